package bpe

import "context"

// IDs returns the tokens of text.
func (e *Encoding) IDs(ctx context.Context, text string) (ids []int, err error) {
	w := e.walk(text)
	defer e.done(w)
	for w.next(ctx) {
		for _, t := range w.encode(ctx) {
			ids = append(ids, int(t))
		}
	}
	return ids, w.err
}

// WindowIDs returns the tokens of a text that is one piece, encoded with windows of so many bytes.
func (e *Encoding) WindowIDs(ctx context.Context, piece string, size int) (ids []int, err error) {
	w := e.walk("")
	defer e.done(w)
	err = w.windows(ctx, piece, size)
	for _, t := range w.tokens {
		ids = append(ids, int(t))
	}
	return ids, err
}

// Load loads a vocabulary as the first count does.
func Load() { loadO200k() }

// Classes returns what the patterns tell a character apart by.
func Classes(r rune) (isSpace, isNewline, isNumber, isUpper, isLower, isCaseless, isMark bool) {
	c := classes.of(r)
	return c == space, c == newline, c == number, c == upper, c == lower, c == caseless, c == mark
}

var classes classTable
