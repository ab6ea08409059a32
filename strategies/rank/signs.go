package rank

// signs are a set of words, of which it is known at little cost that most others are not in
// it: a word's sign is made of its length and the letters at its ends.
type signs [1 << signBits / 64]uint64

const signBits = 13

func (s *signs) add(word string) {
	n := signOf(len(word), word[0], word[len(word)-1])
	s[n/64] |= 1 << (n % 64)
}

// has reports whether a word has the sign of one that was added.
func (s *signs) has(word []byte) bool {
	n := signOf(len(word), word[0], word[len(word)-1])
	return s[n/64]>>(n%64)&1 != 0
}

func signOf(length int, first, last byte) uint {
	return uint(min(length, 8)-1)<<10 | uint(first&31)<<5 | uint(last&31)
}

// wanted are the terms that an index is asked for.
type wanted struct {
	signs  signs
	begins [beginnings]bool // what terms begin with
	terms  map[string]bool
}

// beginnings is how many beginnings of two bytes are told apart.
const beginnings = 1 << 10

func beginning(word []byte) uint {
	if len(word) == 1 {
		return uint(word[0]&31) << 5
	}
	return uint(word[0]&31)<<5 | uint(word[1]&31)
}

func wantedOf(terms []string) *wanted {
	w := &wanted{terms: make(map[string]bool, len(terms))}
	for _, term := range terms {
		if term != "" {
			w.signs.add(term)
			w.begins[beginning([]byte(term))] = true
			w.terms[term] = true
		}
	}
	return w
}

func (w *wanted) has(term []byte) bool { return w.signs.has(term) && w.terms[string(term)] }

// mayHave reports whether a word can have one of the terms as its stem, which begins with the same two bytes. It is
// true where all terms are wanted.
func (w *wanted) mayHave(word []byte) bool { return w == nil || w.begins[beginning(word)] }
