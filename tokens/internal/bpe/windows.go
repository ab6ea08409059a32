package bpe

import "context"

// windowSize is how many bytes are encoded pair by pair at a time, a quarter of them twice. It is much more than the
// longest token has.
const windowSize = 1024

// windows encodes a piece pair by pair, a window of so many bytes at a time, in linear time and without memory for all
// of it. Where two windows do not go together, it begins again with larger ones.
func (e *encoder) windows(ctx context.Context, piece string, size int) error {
	for ; ; size *= 2 {
		if done, err := e.join(ctx, piece, size); done || err != nil {
			return err
		}
	}
}

// join encodes a piece with windows of so many bytes. Of each, the last quarter is left to the next window: the cut may
// matter there. It reports false where it mattered in what was kept, too.
func (e *encoder) join(ctx context.Context, piece string, size int) (bool, error) {
	e.tokens = e.tokens[:0]
	for at := 0; ; {
		text := piece[at:min(at+size, len(piece))]
		e.window = e.pairs.encode(e.vocabulary, &e.merges, text, e.window[:0])
		if n := len(e.tokens); n > 0 && !e.neighbours(e.tokens[n-1], e.window[0], piece, at) {
			return false, nil
		}
		if at+len(text) == len(piece) {
			e.tokens = append(e.tokens, e.window...)
			return true, nil
		}
		end := at + size - size/4
		for _, t := range e.window {
			if at += e.size(t); at > end {
				at -= e.size(t)
				break
			}
			e.tokens = append(e.tokens, t)
		}
		if err := ctx.Err(); err != nil {
			return false, err
		}
	}
}
