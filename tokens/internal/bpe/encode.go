package bpe

import "context"

// encoder encodes pieces that are no token. Merging pair by pair, as byte-pair encoding is defined, takes time for each
// byte, and is not needed: tokens are the encoding of their bytes exactly where each two neighbours are the encoding of
// theirs. So a piece is walked over from its beginning. The longest token comes first; where it does not go with the
// one before it, the next shorter one; and where none does, the one before it was wrong. A place that turned out to be
// no boundary is never tried again, because the tokens that lead to a place are always the same.
//
// The algorithm is that of the crate bpe, https://github.com/github/rust-gems/tree/main/crates/bpe, which proves it.
// On a run of one sign, of which there are tokens of any length, it tries all places with all of them. So where too
// many places turn out wrong, the piece is encoded pair by pair after all.
type encoder struct {
	*vocabulary
	merges merges
	tokens []token  // of the piece, as far as it is encoded
	wrong  []uint64 // a bit for each place that is no boundary
	pairs  pairs
	window []token
}

const (
	// ctxSteps is after how many steps the context is looked at: every few dozen microseconds.
	ctxSteps = 1024
	// minWrong is how many wrong places there may be in any piece.
	minWrong = 8
)

// encode sets the tokens of a piece, which is not empty.
func (e *encoder) encode(ctx context.Context, piece string) error {
	e.tokens = e.tokens[:0]
	next, size := e.longest(piece)
	if size == len(piece) {
		e.tokens = append(e.tokens, next)
		return nil
	}
	next = e.begin(piece)
	e.wrong = append(e.wrong[:0], make([]uint64, len(piece)/64+1)...)
	last, wrong := none, 0
	for at, steps := 0, 1; ; steps++ {
		if steps%ctxSteps == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		if next = e.fit(piece, last, next, at); next != none {
			e.tokens = append(e.tokens, next)
			if at += e.size(next); at == len(piece) {
				return nil
			}
			last, next = next, e.begin(piece[at:])
			continue
		}
		if wrong++; wrong > minWrong+len(e.tokens)/8 {
			return e.windows(ctx, piece, windowSize)
		}
		e.wrong[at/64] |= 1 << (at % 64)
		at -= e.size(last)
		e.tokens = e.tokens[:len(e.tokens)-1]
		next, last = e.origin(last).lead(), none
		if n := len(e.tokens); n > 0 {
			last = e.tokens[n-1]
		}
	}
}

// fit returns the longest token that may follow last at a place: next, or one that it begins with; or none.
func (e *encoder) fit(piece string, last, next token, at int) token {
	for ; next != none; next = e.origin(next).lead() {
		end := at + e.size(next)
		if e.wrong[end/64]>>(end%64)&1 == 0 && (last == none || e.neighbours(last, next, piece, at)) {
			break
		}
	}
	return next
}

// trim lets go of what a long piece took.
func (e *encoder) trim() {
	if cap(e.tokens) > 1<<14 {
		e.tokens, e.wrong = nil, nil
	}
}

// neighbours reports whether two tokens, between which a place of a piece is, are the encoding of their bytes. It takes
// back their merges, the later one first, and looks whether one across the border would have come before.
func (e *encoder) neighbours(left, right token, piece string, at int) bool {
	for limit := none; ; {
		pair := pair(left, right)
		merged, known := e.merges.recall(pair)
		if !known {
			from, end := at-e.size(left), at+e.size(right)
			merged = e.merges.learn(e.vocabulary, pair, piece[from:end], at-from)
		}
		if merged < limit {
			return false
		}
		switch {
		case max(left, right) < bytesEnd:
			return true
		case left > right:
			limit, left = left, e.origin(left).right()
		default: // of two equal merges the left one comes first, which is the one across the border
			limit, right = right+1, e.origin(right).left()
		}
	}
}
