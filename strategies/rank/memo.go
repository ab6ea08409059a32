package rank

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
	word [maxRemembered]byte
	size uint8 // 0 where nothing is remembered
	id   int32 // of its term, or one of these
}

// What stands in the place of a term's number.
const (
	noTerm   = -1 // a stop word
	unwanted = -2 // it counts in the length of a text, and is not found
)

// place returns the place of a word by a sum of its bytes, nil where it is too long for one.
func (m *memo) place(word []byte, sum uint32) *remembered {
	if m == nil || len(word) > maxRemembered {
		return nil
	}
	return &m[(sum^sum>>memoBits)%uint32(len(m))]
}

func (r *remembered) is(word []byte) bool {
	return int(r.size) == len(word) && string(r.word[:r.size]) == string(word)
}

// set remembers a word, whose term is not known yet.
func (r *remembered) set(word []byte) {
	r.size, r.id = uint8(copy(r.word[:], word)), noTerm
}
