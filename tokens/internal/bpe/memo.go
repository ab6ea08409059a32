package bpe

// memo remembers how many tokens short pieces have. A text's words come again and again, and the vocabulary is larger
// than the processor's caches: this is not.
type memo [1 << memoBits]memory

const (
	memoBits = 16
	memoLen  = 15 // of the longest piece that is remembered
)

// memory is what is remembered of a piece: all of it in 15 bytes, and in the last byte its length and how many tokens
// it has, a half each.
type memory struct{ head, tail uint64 }

const (
	lengthShift = 60
	tokensShift = 56
	tokensMask  = 15
)

// recall returns how many tokens a piece has, or 0, and where to remember it; nil for a long piece.
func (m *memo) recall(piece string) (int, *memory) {
	n := len(piece)
	if n > memoLen {
		return 0, nil
	}
	var head, tail uint64
	switch {
	case n >= 8:
		head, tail = load64(piece), load64(piece[n-8:])>>8
	case n >= 4:
		head = uint64(load32(piece)) | uint64(load32(piece[n-4:]))<<32
	default:
		head = uint64(piece[0]) | uint64(piece[n/2])<<8 | uint64(piece[n-1])<<16
	}
	tail |= uint64(n) << lengthShift
	at := &m[(head^tail*golden)*golden>>(64-memoBits)]
	if at.head == head && at.tail&^(tokensMask<<tokensShift) == tail {
		return at.tokens(), at
	}
	at.head, at.tail = head, tail
	return 0, at
}

func (m *memory) tokens() int { return int(m.tail >> tokensShift & tokensMask) }

func (m *memory) remember(tokens int) { m.tail |= uint64(tokens) << tokensShift }

func load64(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

func load32(s string) uint32 {
	_ = s[3]
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}
