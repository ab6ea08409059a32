package strictjson

import (
	"fmt"
	"unicode/utf8"
)

// CheckForeign is [Check] for documents whose keys are not the ABI's:
// logs and requests of other programs, where "readme.md" and "README.md" may
// stand side by side. Keys that differ only in case are different keys here;
// all else that Check refuses is refused. Whoever decodes such a document
// has to look fields up by their exact key. Errors are of type [*Error].
func CheckForeign(doc []byte) error { return check(doc, nil, true, Limits{}) }

// CheckForeignWithin is [CheckForeign] within limits, the errors of which are returned
// as they are.
func CheckForeignWithin(doc []byte, l Limits) error { return check(doc, nil, true, l) }

// Error is a fault in a document, and where it is.
type Error struct {
	Offset int // in bytes from the start of the document
	Err    error
}

// Error is "json: byte OFFSET: cause".
func (e *Error) Error() string { return fmt.Sprintf("json: byte %d: %v", e.Offset, e.Err) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// invalidUTF8 is where the first byte stands that is not UTF-8.
func invalidUTF8(b []byte) int {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(b)
}
