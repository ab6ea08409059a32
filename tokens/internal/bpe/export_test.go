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

// Load loads a vocabulary as the first count does.
func Load() error {
	_, err := readVocabulary(o200k)
	return err
}

// Classes returns what the patterns tell a character apart by.
func Classes(r rune) (isSpace, isNewline, isNumber, isUpper, isLower, isCaseless, isMark bool) {
	c := classes().of(r)
	return c == space, c == newline, c == number, c == upper, c == lower, c == caseless, c == mark
}
