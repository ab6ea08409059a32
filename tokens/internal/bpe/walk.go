package bpe

import (
	"context"
	"strings"
	"unicode/utf8"
)

// walker goes over the pieces of a text.
type walker struct {
	splitter
	encoder
	memo
	split      func(*splitter, int) int
	begin, end int    // of the piece
	piece      string // as it is encoded
	checked    int    // up to where the context was looked at
	err        error
}

// walk begins a walk, with what an earlier one has left.
func (e *Encoding) walk(text string) *walker {
	w, ok := e.walkers.Get().(*walker)
	if !ok {
		w = &walker{splitter: splitter{classes: classes()}, encoder: encoder{vocabulary: e.load()}, split: e.split}
	}
	w.text = text
	return w
}

// done ends a walk.
func (e *Encoding) done(w *walker) {
	w.text, w.piece, w.begin, w.end, w.checked, w.err = "", "", 0, 0, 0, nil
	w.trim()
	e.walkers.Put(w)
}

// ctxBytes is after how much text the context is looked at.
const ctxBytes = 1 << 14

// next goes to the next piece, where there is one and the context has not ended.
func (w *walker) next(ctx context.Context) bool {
	if w.err != nil || w.end == len(w.text) {
		return false
	}
	if w.end >= w.checked {
		if w.err = ctx.Err(); w.err != nil {
			return false
		}
		w.checked = w.end + ctxBytes
	}
	w.begin = w.end
	w.end = w.split(&w.splitter, w.begin)
	w.piece = w.text[w.begin:w.end]
	if w.invalid {
		w.piece, w.invalid = replaced(w.piece), false
	}
	return true
}

// count returns the number of tokens in the piece.
func (w *walker) count(ctx context.Context) int {
	m := w.recall(w.piece)
	if m == nil {
		return len(w.encode(ctx))
	}
	if m.tokens == 0 {
		m.tokens = int32(len(w.encode(ctx)))
	}
	return int(m.tokens)
}

// encode returns the tokens of the piece, until the next call.
func (w *walker) encode(ctx context.Context) []token {
	w.err = w.encoder.encode(ctx, w.piece)
	return w.tokens
}

// length returns how many bytes of the text the first tokens of the piece have, without a last character that is not
// whole.
func (w *walker) length(first []token) int {
	left := 0
	for _, t := range first {
		left += w.size(t)
	}
	for end := w.begin; ; {
		r, n := utf8.DecodeRuneInString(w.text[end:w.end])
		if left -= utf8.RuneLen(r); n == 0 || left < 0 {
			return end - w.begin
		}
		end += n
	}
}

// replaced is text with the three bytes of U+FFFD for each byte that is no UTF-8: that is what tiktoken encodes.
func replaced(text string) string {
	var b strings.Builder
	for _, r := range text {
		b.WriteRune(r)
	}
	return b.String()
}
