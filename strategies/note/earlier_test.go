package note_test

import (
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// TestWhenEarlierSummaryWasWritten: the note says where among the messages of persons a summary stands that somebody
// else wrote, after any number of compactions.
func TestWhenEarlierSummaryWasWritten(t *testing.T) {
	features.Proves(t, "N13")
	theirs := abi.Message{Role: abi.RoleUser, Kind: abi.KindSummary, Content: abi.Text("The lock is taken late.")}
	work, done := edit("/srv/kw/a.go", "ok", false), said("Done.")
	for _, tc := range []struct {
		why  string
		msgs []abi.Message
		want string
	}{
		{"at the beginning", session(theirs, "Mend it.", work, done), "It was written before [1]"},
		{"between two messages", session("Mend it.", work, done, theirs, "Go on.", work, done),
			"It was written before [2]"},
		{"in the middle of one", session("Look.", done, "Mend it.", work, theirs, work, done, "Go on.", done),
			"It was written in the middle of [2]"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			text := render(tc.msgs, note.Options{})
			for round := range 3 {
				if !strings.Contains(text, tc.want+"\n") || strings.Count(text, "It was written") != 1 {
					t.Errorf("round %d: no %q in\n%s", round, tc.want, text)
				}
				text = render(session(summary(text)), note.Options{})
			}
		})
	}
}
