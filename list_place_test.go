package kagewasm_test

import (
	"slices"
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies"
)

// TestAListIsTakenAsItIs: the new messages of a compactor's list stand where it has them, by
// whichever note; where the host cannot put them there the report says so.
func TestAListIsTakenAsItIs(t *testing.T) {
	features.Proves(t, "K30")
	summary := func(text string) abi.OutputMessage {
		return abi.OutputMessage{Message: abi.Message{Role: abi.RoleUser, Kind: abi.KindSummary, Content: abi.Text(text)}}
	}
	// Each list is ids, and "+" for a summary.
	for _, tc := range []struct{ why, list, want, warns string }{
		{"behind the task", "sys goal + last", "sys goal + last", ""},
		{"behind a message that stays", "sys goal a55 t55 + last", "sys goal a55 t55 + last", ""},
		{"two, each in its place", "sys goal + a55 t55 + last", "sys goal + a55 t55 + last", ""},
		{"behind all that stays", "sys goal last +", "sys goal last +", ""},
		{"before the task", "sys + goal last", "sys goal + last", "where the list has them"},
	} {
		for _, by := range []strategies.NoteBy{strategies.NoteByBoth, strategies.NoteByPlugin} {
			t.Run(tc.why+", by "+string(by), func(t *testing.T) {
				pre := func(*abi.Input) (*abi.Output, error) {
					out := &abi.Output{}
					for i, id := range strings.Fields(tc.list) {
						if id == "+" {
							out.Messages = append(out.Messages, summary(strings.Repeat("Steps went well. ", i+2)))
						} else {
							out.Messages = append(out.Messages, abi.OutputMessage{Ref: id})
						}
					}
					return out, nil
				}
				p := kagewasm.Policy{Note: strategies.NoteConfig{By: by}}
				r := compact(t, newCompactor(t, kagewasm.Options{Policy: p, Plugins: plugins(compactor(pre))}),
					request(400, chat(60)))
				if r.Report.Strategy != "delegate" || len(r.Report.Hooks) != 1 {
					t.Fatalf("by %s, %v", r.Report.Strategy, r.Report.Failures)
				}
				var got []string
				for i := range r.Messages {
					if m := &r.Messages[i]; !slices.Contains(r.Report.Inserted, m.ID) {
						got = append(got, m.ID)
					} else if got = append(got, "+"); !strings.Contains(m.Text(), "Steps went well.") {
						t.Errorf("%s says %q", m.ID, m.Text())
					}
				}
				if strings.Join(got, " ") != tc.want {
					t.Errorf("the list is %v, want %s", got, tc.want)
				}
				if n := strings.Count(r.Report.Summary, "Steps went well. Steps"); n < strings.Count(tc.list, "+") {
					t.Errorf("the record has not all that they say: %q", r.Report.Summary)
				}
				said := strings.Join(r.Report.Hooks[0].Warnings, " ")
				if (said == "") != (tc.warns == "") || !strings.Contains(said, tc.warns) {
					t.Errorf("%q, want %q", said, tc.warns)
				}
			})
		}
	}
}
