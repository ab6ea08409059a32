package rank

import (
	_ "embed"
	"strings"
)

// irregularList are English words with the forms that no ending tells of. A form
// that is a word of its own has its plural beside it, or is left out.
//
//go:embed irregular.txt
var irregularList string

// irregular is the word of each form.
var irregular = func() map[string]string {
	of := make(map[string]string)
	for line := range strings.Lines(irregularList) {
		words := strings.Fields(line)
		for _, form := range words[1:] {
			of[form] = words[0]
		}
	}
	return of
}()

// regular returns the word that a term in lower case is an irregular form of, or the term. The result
// lies in term where it fits.
func regular(term []byte) []byte {
	if word, ok := irregular[string(term)]; ok {
		return append(term[:0], word...)
	}
	return term
}
