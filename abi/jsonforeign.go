package abi

import (
	"fmt"
	"unicode/utf8"
)

// CheckForeignJSON is [CheckJSON] for documents whose keys are not the ABI's:
// logs and requests of other programs, where "readme.md" and "README.md" may
// stand side by side. Keys that differ only in case are different keys here;
// all else that CheckJSON refuses is refused. Whoever decodes such a document
// has to look fields up by their exact key. Errors are of type [*JSONError].
func CheckForeignJSON(doc []byte) error { return checkJSON(doc, nil, true) }

// JSONError is a fault in a document, and where it is.
type JSONError struct {
	Offset int // in bytes from the start of the document
	Err    error
}

// Error is "json: byte OFFSET: cause".
func (e *JSONError) Error() string { return fmt.Sprintf("json: byte %d: %v", e.Offset, e.Err) }

// Unwrap returns the cause.
func (e *JSONError) Unwrap() error { return e.Err }

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
