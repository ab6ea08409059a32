package note_test

import (
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// TestAgreedLists: requirement checklists and acceptance criteria that an agent wrote down, and a person agreed to,
// stand word for word, a line each, in the next note too. Where nobody agreed, or the list is of something else, they
// do not.
func TestAgreedLists(t *testing.T) {
	features.Proves(t, "A6")
	const list = "I take these from what you said:\n\n## Requirements\n\n- [ ] flags are parsed with pflag\n" +
		"- [ ] exit code 3 on a partial export\n\n## Acceptance criteria\n\n1. it finishes under 4.5 s\n" +
		"2. a closed socket is retried 3 times\n\n## Files\n\n- main.go, which is long\n\nShall I go by these?"
	want := "- [2] Agreed to, as the agent wrote it:\n- [2] [ ] flags are parsed with pflag\n" +
		"- [2] [ ] exit code 3 on a partial export\n- [2] it finishes under 4.5 s\n" +
		"- [2] a closed socket is retried 3 times"
	// What a person answers stays below: the list was not what they said yes to.
	other := session("Plan it.", said(list), "Hm.", said("Shall I take the other socket?"), "yes")
	s := gone(other)
	for i := len(s.Gone) - 2; i < len(s.Gone); i++ {
		s.Gone[i] = false
	}
	if text := write(s, note.Options{}); strings.Contains(text, "Agreed to") {
		t.Errorf("what stays was answered: %s", text)
	}
	for answer, agreed := range map[string]bool{"yes, exactly these, go on": true, "approved. Now do task 3": true,
		"no, drop the second one": false, "yes, but without the second one": false,
		"What is the socket for?": false} {
		text := render(session("Plan it.", run("ls", "x", false), said(list), answer, run("ls", "x", false), said("Done.")),
			note.Options{})
		again := render(session(summary(text), "And the next one.", said("Done.")), note.Options{})
		for _, got := range []string{text, again} {
			if strings.Contains(got, want) != agreed {
				t.Errorf("%q: agreed %v, got\n%s", answer, agreed, got)
			}
		}
	}
}
