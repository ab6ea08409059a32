package bpe

// memo remembers how many tokens short pieces have. A text's words come again and again, and the vocabulary is larger
// than the processor's caches: this is not.
type memo [memoSize]memory

const (
	memoSize = 1 << memoBits
	memoBits = 13
	memoLen  = 16 // of the longest piece that is remembered
)

// memory is what is remembered of a piece: its beginning, its end, and its length, which are all of it.
type memory struct {
	head, tail uint64
	size       int32
	tokens     int32
}

// recall returns the place of a piece, with zero tokens where it is not remembered; nil for a long piece.
func (m *memo) recall(piece string) *memory {
	if len(piece) > memoLen {
		return nil
	}
	var head, tail uint64
	switch n := len(piece); {
	case n >= 8:
		head, tail = load64(piece), load64(piece[n-8:])
	case n >= 4:
		head, tail = uint64(load32(piece)), uint64(load32(piece[n-4:]))
	default:
		head, tail = uint64(piece[0])|uint64(piece[n/2])<<8, uint64(piece[n-1])
	}
	hash := (head ^ tail*golden ^ uint64(len(piece))) * golden
	at := &m[hash>>(64-memoBits)]
	if at.head != head || at.tail != tail || at.size != int32(len(piece)) {
		*at = memory{head: head, tail: tail, size: int32(len(piece))}
	}
	return at
}

func load64(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

func load32(s string) uint32 {
	_ = s[3]
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}
