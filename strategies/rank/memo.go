package rank

import "github.com/kagewasm/kagewasm/internal/unaligned"

// memo remembers which terms the plain words are that were added, so that a word that comes again is
// neither stemmed nor looked up. Where two words have one place the later one drives the other out, so
// words that were chosen to be slow take as long as without.
type memo [1 << memoBits]remembered

const (
	memoBits = 11
	// maxRemembered is how long a word may be to be remembered, in bytes.
	maxRemembered = 15
)

type remembered struct {
	word shortWord // the zero one where nothing is remembered
	id   int32     // of its term, or one of these
}

// What stands in the place of a term's number.
const (
	noTerm   = -1 // a stop word
	unwanted = -2 // it counts in the length of a text, and is not found
)

// shortWord is a word of up to maxRemembered bytes as two numbers, with zeros behind it.
type shortWord struct{ head, tail uint64 }

// shortWordAt returns the bytes of a text between two places, so many of which in front are capitals, in lower case.
func shortWordAt(text []byte, start, end, capitals int) (w shortWord) {
	const bytes = 8
	var room [2 * bytes]byte
	if start+len(room) > len(text) {
		copy(room[:], text[start:end])
		text, start, end = room[:], 0, end-start
	}
	w.head = unaligned.Load(text, start)
	if n := end - start; n < bytes {
		w.head &= firstBytes(n)
	} else {
		w.tail = unaligned.Load(text, start+bytes) & firstBytes(n-bytes)
	}
	if capitals > 0 {
		w.head |= 0x20 * ones & firstBytes(min(capitals, bytes))
		w.tail |= 0x20 * ones & firstBytes(max(capitals-bytes, 0))
	}
	return w
}

// firstBytes has all bits of the first n bytes.
func firstBytes(n int) uint64 { return 1<<(8*uint(n)) - 1 }

// place returns the place of a word.
func (m *memo) place(w shortWord) *remembered {
	const spread = 0x9e3779b97f4a7c15
	return &m[(w.head^w.tail*spread)*spread>>(64-memoBits)]
}
