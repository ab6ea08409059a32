package bpe

import (
	"context"
	"strings"
)

// walker goes over the pieces of a text.
type walker struct {
	splitter
	encoder
	memo
	split   func(*splitter, int) int
	end     int    // of the piece
	piece   string // as it is encoded
	checked int    // up to where the context was looked at
	err     error
}

// walk begins a walk, with what an earlier one has left.
func (e *Encoding) walk(text string) *walker {
	w := e.idle.Swap(nil)
	if w == nil {
		w, _ = e.walkers.Get().(*walker)
	}
	if w == nil {
		w = &walker{encoder: encoder{vocabulary: e.load()}, split: e.split}
		w.classes.fill(0)
		for i := 0; i < len(w.memo); i += page / 16 {
			w.memo[i] = memory{}
		}
	}
	w.text = text
	return w
}

// done ends a walk.
func (e *Encoding) done(w *walker) {
	w.text, w.piece, w.end, w.checked, w.invalid, w.err = "", "", 0, 0, false, nil
	w.trim()
	if !e.idle.CompareAndSwap(nil, w) {
		e.walkers.Put(w)
	}
}

// ctxBytes is after how much text the context is looked at.
const ctxBytes = 1 << 14

// next goes to the next piece, where there is one and the context has not ended.
func (w *walker) next(ctx context.Context) bool {
	begin := w.end
	if begin == len(w.text) {
		return false
	}
	w.end = w.split(&w.splitter, begin)
	w.piece = w.text[begin:w.end]
	return w.end < w.checked && !w.invalid || w.look(ctx)
}

// look sees to what is rare: bytes that are no UTF-8, and the end of the context, for which it reports false.
func (w *walker) look(ctx context.Context) bool {
	w.checked = w.end + ctxBytes
	if w.err == nil {
		w.err = ctx.Err()
	}
	if w.invalid && w.err == nil {
		w.invalid = false
		w.piece, w.err = replaced(ctx, w.piece)
	}
	return w.err == nil
}

// learn returns the number of tokens in the piece, and remembers it where there is a place for it.
func (w *walker) learn(ctx context.Context, at *memory) int {
	n := len(w.encode(ctx))
	if at != nil {
		at.remember(n)
	}
	return n
}

// encode returns the tokens of the piece, until the next call.
func (w *walker) encode(ctx context.Context) []token {
	if w.err = w.encoder.encode(ctx, w.piece); w.err != nil {
		w.checked = 0 // the next look ends the walk
	}
	return w.tokens
}

// replaced is text with the three bytes of U+FFFD for each byte that is no UTF-8: that is what tiktoken encodes.
func replaced(ctx context.Context, text string) (string, error) {
	var b strings.Builder
	b.Grow(3 * len(text))
	for i, r := range text {
		if i%ctxBytes == 0 && ctx.Err() != nil {
			return "", ctx.Err()
		}
		b.WriteRune(r)
	}
	return b.String(), nil
}
