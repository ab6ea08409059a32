package yamldoc

import (
	"bytes"
	"fmt"
)

// How many values a text may hold: so many, and one more for each so many bytes.
// The longest configurations have a tenth of it. The parser takes up to a KB for
// each.
const (
	fewValues     = 4 << 10
	bytesPerValue = 32
	// maxMarks is how many quotes, stars and the like a line may hold. The parser
	// reads a line to its end before it knows what the first of them is.
	maxMarks = 1 << 10
)

// scan counts what parts values before anything is built of them. It does not know
// what is a text or a comment, so what stands in those counts as well.
func scan(data []byte) error {
	allowed := fewValues + len(data)/bytesPerValue
	line, begin, values, marks := 1, 0, 0, 0
	for i, c := range data {
		switch c {
		case '\n', '\r', ',', ':', '[', '{':
			values++
		case 0x85, 0xa8, 0xa9: // the ends of U+0085, U+2028 and U+2029, which are line ends to YAML
			if bytes.HasSuffix(data[:i], []byte{0xc2}) || bytes.HasSuffix(data[:i], []byte{0xe2, 0x80}) {
				values++
			}
		case '-', '?':
			if i+1 == len(data) || bytes.IndexByte([]byte(" \t\r\n"), data[i+1]) >= 0 {
				values++
			}
		case '"', '\'', '*', '&', '!', '|', '>', '%', '@', '`':
			marks++
		}
		switch at := (Pos{line, i - begin + 1}); {
		case values > allowed:
			return &Error{at, fmt.Sprintf("more than %d values and lines, too many for %d bytes", allowed, len(data))}
		case marks > maxMarks:
			return &Error{at, fmt.Sprintf("more than %d quotes and marks in one line", maxMarks)}
		case c == '\n':
			line, begin, marks = line+1, i+1, 0
		}
	}
	return nil
}
