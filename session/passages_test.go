package session_test

import (
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/session"
)

// TestPassages: people find what the model still sees, too, and every passage of a
// long message, each with its place in it.
func TestPassages(t *testing.T) {
	features.Proves(t, "N9")
	filler := minutes(3) + minutes(4)
	long := gone("long", abi.RoleAssistant,
		filler+"\nThe ferry leaves at noon.\n"+filler+"\nThe ferry comes back at six.\n"+filler)
	list := append(storedSession(), long)
	for _, tc := range []struct {
		why, query string
		limit      int
		want       []string // in the passages, in that order
		ids        string
	}{
		{"what is in view", "have a look again please", 1, []string{"ErrConflict again"}, "shown"},
		{"what was superseded", "port of the server", 1, []string{"The port of the server is 8443"}, "say"},
		{"what was rolled back is no part of a session", "spelled differently branch", 1, nil, ""},
		{"both passages", "Does the ferry leave at noon, or come?", 2,
			[]string{"ferry leaves at noon", "ferry comes back at six"}, "long; long"},
		{"nothing", "xylophone", 5, nil, ""},
	} {
		t.Run(tc.why, func(t *testing.T) {
			got := session.Passages(list, session.RecallQuery{Text: tc.query, Limit: tc.limit})
			if ids := pieceIDs(got); ids != tc.ids {
				t.Fatalf("found %q, not %q", ids, tc.ids)
			}
			for i, want := range tc.want {
				e := got[i].Pieces[0]
				if !strings.Contains(e.Text, want) {
					t.Errorf("passage %d is %q", i, e.Text)
				}
				if e.Message != "long" {
					continue
				}
				if long.Text()[e.Start:e.End] != e.Text || e.Length != len(long.Text()) || len(e.Text) > 1500 {
					t.Errorf("bytes %d to %d of %d are not %q", e.Start, e.End, e.Length, e.Text)
				}
			}
		})
	}
}
