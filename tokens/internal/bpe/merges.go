package bpe

// merges remembers which token two tokens merge to. Few pairs are asked for again and again; each of them is found in
// the trie, which takes a step a byte.
type merges [1 << mergeBits]uint64

const (
	mergeBits = 14
	mergeSeen = 1 << (64 - idBits - 1) // above the ids of two tokens, in an entry that is there
)

// pair is the key of two tokens.
func pair(left, right token) uint64 { return uint64(left)<<idBits | uint64(right) | mergeSeen }

// recall returns the token that two tokens merge to, or none, where that is remembered.
func (m *merges) recall(pair uint64) (token, bool) {
	at := m[pair*golden>>(64-mergeBits)]
	return token(at & idMask), at>>idBits == pair
}

// learn returns the token that two tokens merge to, or none. The text is their bytes, up to mid those of the left one.
func (m *merges) learn(v *vocabulary, pair uint64, text string, mid int) token {
	merged := none
	if n, _ := v.find(text); n != 0 {
		if at := v.node(n); at.left() == mid {
			merged = at.is()
		}
	}
	m[pair*golden>>(64-mergeBits)] = pair<<idBits | uint64(merged)
	return merged
}

// golden spreads what is multiplied with it over the upper bits.
const golden = 0x9e3779b97f4a7c15
