package wordlist

import "strings"

// Words are looked for in a text in one look, however many they are. Each has two bytes at least.
type Words struct {
	list []string
	next [64]uint64 // for each byte by its last six bits, those that follow it where one of the words begins
}

// Of makes a list of words one that is looked for.
func Of(list ...string) *Words {
	w := &Words{list: list}
	for _, word := range list {
		w.next[word[0]%64] |= 1 << (word[1] % 64)
	}
	return w
}

// In reports whether a text holds one of the words.
func (w *Words) In(text string) bool {
	for i := 1; i < len(text); i++ {
		if w.next[text[i-1]%64]>>(text[i]%64)&1 != 0 && w.Begin(text[i-1:]) {
			return true
		}
	}
	return false
}

// Begin reports whether a text begins with one of the words.
func (w *Words) Begin(text string) bool {
	if len(text) < 2 || w.next[text[0]%64]>>(text[1]%64)&1 == 0 {
		return false
	}
	for _, word := range w.list {
		if word[0] == text[0] && strings.HasPrefix(text, word) {
			return true
		}
	}
	return false
}
