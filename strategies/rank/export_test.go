package rank

import "fmt"

// What tests look at by name.
const (
	K1 = k1
	B  = b
)

var Stem = stem

// First are the terms of the words that a text begins with and where those end, read as a
// plain word where they are one, and as words of any form.
func First(text string) (as, plainly [2]any) {
	read := func(run func(s *scanner) int) [2]any {
		var terms []string
		s := scanner{text: text, yield: func(term []byte, start, end int) bool {
			terms = append(terms, fmt.Sprint(string(term), start, end))
			return true
		}}
		return [2]any{run(&s), terms}
	}
	return read(func(s *scanner) int { return s.elided(s.joined(0)) }), read(func(s *scanner) int { return s.run(0) })
}
