package note_test

import (
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/strategies/note"
)

// TestVocabulary: a phrase of a list is found where a word begins, in whatever case and at either end of a text, and
// not within a word.
func TestVocabulary(t *testing.T) {
	v := note.NewVocabulary("withdrawing")
	for text, want := range map[string]bool{
		"forget about it":             true,
		"Never mind.":                 true,
		"well, NEVER MIND":            true,
		"好，算了吧":                       true,
		"please nvm the rest":         true,
		"please nvm":                  false, // a space has to follow
		"n":                           false,
		"":                            false,
		"forge about it":              false,
		"reforget about it":           false,
		"nevertheless, never minding": true,
	} {
		if got := v.Says(text); got != want {
			t.Errorf("says %q: %v, want %v", text, got, want)
		}
	}
}

// TestEveryPhrase: each phrase of each list is found in a text that holds it.
func TestEveryPhrase(t *testing.T) {
	for name, list := range note.WordLists() {
		v := note.NewVocabulary(name)
		for _, phrase := range list {
			phrase = strings.ReplaceAll(phrase, "_", " ")
			if !v.Says("x, "+phrase) || !v.Says(phrase+"x") {
				t.Errorf("[%s] %q is not found", name, phrase)
			}
		}
	}
}
