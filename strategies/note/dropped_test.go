package note_test

import (
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// TestWishesTakenBackByName: a wish of a message that is shortened is listed with the later words that may take it back
// by what they name, word for word, over compactions; what they do not name is listed alone.
func TestWishesTakenBackByName(t *testing.T) {
	features.Proves(t, "A6", "N13")
	const wish = "We need to add the export endpoint to the server."
	for _, tc := range []struct{ why, says, back, want string }{
		{"by its name", wish, "Forget the endpoint, nobody uses it.",
			"- [2] " + wish + " (but see [4]: \"Forget the endpoint, nobody uses it.\")"},
		{"in other words", wish, "Ok. On reflection we don't need the export endpoint.",
			"- [2] " + wish + " (but see [4]: \"On reflection we don't need the export endpoint.\")"},
		{"another one", wish, "Forget the import, nobody uses it.", "- [2] " + wish},
		{"one of two words", wish, "Forget the import endpoint.", "- [2] " + wish},
		{"a warning", wish, "Don't forget the endpoint.", "- [2] " + wish},
		{"a question", wish, "Did you forget the endpoint?", "- [2] " + wish},
		{"nothing that is named", wish, "Forget the rest of it.", "- [2] " + wish},
	} {
		t.Run(tc.why, func(t *testing.T) {
			msgs := session("Begin.", said("a"), filler+"\n"+tc.says+"\n"+filler, said("b"), "And the docs.", said("c"), tc.back,
				said("d"))
			for round := range 3 {
				text := render(msgs, note.Options{Budget: 1600})
				lines := strings.Split(rulesIn(text), "\n")
				if got := lines[len(lines)-1]; got != tc.want {
					t.Fatalf("round %d: %q, want %q:\n%s", round, got, tc.want, text)
				}
				msgs = session(summary(text), "Go on.")
			}
		})
	}
}
