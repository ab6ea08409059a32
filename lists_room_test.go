package kagewasm_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
)

// requirements are lists and criteria in the forms in which people write them.
var requirements = []string{
	"Please add password reset. Definition of Done:\nAC1: A reset link expires after exactly 47 minutes\n" +
		"AC2: The mail comes from no-reply@portal.example\nAC3: Using a link twice answers 410 Gone\n" +
		"AC-4) Nothing is given away",
	"Here is the list for the importer:\n1) read ISO-8859-15 as well as UTF-8\n2) skip rows whose IBAN fails mod-97\n" +
		"   a) but count them\n   b) and write the count to stderr\n3) never hold more than 64 MiB",
	"Status from our board, keep to it:\n✅ schema v7 migrated\n⬜ backfill of order_totals in batches of 500\n" +
		"⬜ drop column legacy_sum after 14 days\n❌ no downtime window before 22:00 CET",
	"受け入れ条件:\n・レスポンスは300ミリ秒以内であること\n・税込価格は切り捨てで計算すること\n・旧APIのv1は2025年3月まで残すこと",
	"Requirements from Jira:\n<ul>\n<li>Tooltips open after 250 ms</li>\n" +
		"<li>Colors come from tokens.css only</li>\n</ul>",
	"As Marta wrote:\n> - [ ] the retry budget is 5 per minute per tenant\n" +
		"> - [ ] 429 carries Retry-After in seconds\nPlease stick to that.",
	"| # | Requirement | Limit |\n|---|---|---|\n| R1 | cold start | 1.2 s |\n| R2 | p99 of /search | 180 ms |",
	"Checklist for release 4.2:\n- [ ] server\n    - [ ] bump proto to 19\n    - [ ] remove flag --compat-41\n" +
		"- [x] sign with key 0xBEEF4242",
	"Rules for the parser:\n* tabs count as 8\n* a BOM is skipped, once\n* error text starts with 'E042:'",
	"Scenario: double submit\n  Given an order in state PENDING\n  When the form is posted twice within 3 s\n" +
		"  Then one charge of 19.99 EUR is made",
}

// TestRequirementsOutlastTasks: in a window of 8,000 tokens requirement lists stay word for word through five
// compactions, among tasks that forbid something each, also below a model's summary that says nothing of them, and
// where as little as possible is to stay: a small target keeps no more of them than a target of nothing.
func TestRequirementsOutlastTasks(t *testing.T) {
	features.Proves(t, "A6", "N13")
	window, nothing, small := 8_000, 0, 1_800
	model := writes("## Goal\n\nfix the build\n\n## Next Steps\n\n- go on")
	for _, tc := range []struct {
		name   string
		model  abi.Model
		target *int
		lost   int
	}{
		{"a model", model, nil, 0}, {"as little as possible", nil, &nothing, 0}, {"a small target", nil, &small, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, r := newCompactor(t, kagewasm.Options{Counter: realCounter(), Model: tc.model}), rand.New(rand.NewPCG(1, 2))
			list := []abi.Message{{Role: abi.RoleSystem, Content: abi.Text("You are a coding agent.")},
				{Role: abi.RoleUser, Content: abi.Text("Get the release ready.")}}
			for round := range 5 {
				for turn := range 14 {
					words := fmt.Sprintf("Task %d: please fix the %sproblem in src/file%d.go; never touch prod%d.cfg",
						turn, noise(r, 6), turn, turn)
					if turn == 1 || turn == 2 {
						words = requirements[2*round+turn-1]
					}
					list = append(list, abi.Message{Role: abi.RoleUser, Content: abi.Text(words)})
					for k := range 3 {
						id := fmt.Sprintf("t%d_%d_%d", round, turn, k)
						list = append(list, ranCommand(id, "go vet ./...", noise(r, 100))...)
					}
					done := fmt.Sprintf("Done with task %d. %s", turn, noise(r, 20))
					list = append(list, abi.Message{Role: abi.RoleAssistant, Content: abi.Text(done)})
				}
				for i := range list {
					list[i].ID = cmp.Or(list[i].ID, fmt.Sprintf("m%d-%d", round, i))
				}
				res := compact(t, c, kagewasm.Request{Messages: list, Session: abi.Session{ContextWindow: &window},
					Force: tc.target != nil, Target: tc.target})
				if list = res.Messages; !res.Report.Compacted {
					t.Fatal(res.Report.Reason)
				}
			}
			shown, lost := "", []string(nil)
			for i := range list {
				shown += strings.ReplaceAll(list[i].Text(), "\n> ", "\n") + "\n"
			}
			for _, want := range requirements {
				if !strings.Contains(shown, want) {
					lost = append(lost, want)
				}
			}
			if len(lost) > tc.lost {
				t.Errorf("%d are not whole: %q\n%s", len(lost), lost, shown)
			}
		})
	}
}
