package kagewasm_test

import (
	"fmt"
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
)

// TestLedgerBesideWhatIsPinned: every compaction, with or without a model, carries a ledger of exact names inside a
// token budget. Where what is pinned exceeds the target the note still has a share of what the window leaves, is never
// over the window, and is left as it is.
func TestLedgerBesideWhatIsPinned(t *testing.T) {
	features.Proves(t, "N8")
	list := chat(300)
	list[0].Content = abi.Text(words(2200))
	for why, opts := range map[string]kagewasm.Options{
		"without a model": {}, "with a model": {Model: writes("The tests are being mended.")},
	} {
		t.Run(why, func(t *testing.T) {
			opts.Counter = realCounter()
			c := newCompactor(t, opts)
			fixed := bare(t, c, list)
			for free := 400; free <= fixed; free += 300 {
				r := compact(t, c, request(fixed+free, list))
				if !strings.Contains(r.Report.Summary, "\n## Exact names\n") {
					t.Errorf("%d tokens are free, and no name is told in %d:\n%s", free, r.Report.Metrics.NoteTokens,
						r.Report.Summary)
				}
				if r.Report.TokensAfter > fixed+free {
					t.Errorf("%d tokens in a window of %d", r.Report.TokensAfter, fixed+free)
				}
				again := compact(t, c, request(fixed+free, r.Messages))
				if again.Report.Compacted {
					t.Errorf("%d tokens are free, and the note is compacted again: %s", free, again.Report.Reason)
				}
			}
		})
	}
}

// bare returns the tokens of a session of which all that may go went, without a note.
func bare(t *testing.T, c *kagewasm.Compactor, list []abi.Message) int {
	t.Helper()
	req := request(longWindow, list)
	target := 0
	req.Force, req.Target = true, &target
	r := compact(t, c, req)
	return r.Report.TokensAfter - r.Report.Metrics.NoteTokens
}

// TestTightNoteTellsWhatWasSaid: where what is pinned leaves little room, the note has the words of persons and the
// newest error before the files that were only read, and names beside them.
func TestTightNoteTellsWhatWasSaid(t *testing.T) {
	features.Proves(t, "N8")
	const (
		rule    = "Use bucket s3://acme-exports-eu/v3, job id EXP-20931, and keep maxRetries at 7."
		command = "npm run export:dry -- --job EXP-20931"
		failure = "TypeError: Cannot read properties of undefined (reading 'cursorToken')"
	)
	next := 0
	call := func(tool, args, result string, failed bool) []abi.Message {
		next++
		id := fmt.Sprint("c", next)
		return []abi.Message{
			{ID: id, Role: abi.RoleAssistant, ToolCalls: []abi.ToolCall{{ID: id, Name: tool, Arguments: args}}},
			{ID: id + "r", Role: abi.RoleTool, ToolCallID: id, Name: tool, IsError: failed, Content: abi.Text(result)},
		}
	}
	const word = 248 // what one costs, in hundredths of a token, with what else is pinned
	c := newCompactor(t, kagewasm.Options{Counter: realCounter()})
	for window := 6000; window <= 8000; window += 250 {
		for _, share := range []int{75, 77, 79} {
			list := []abi.Message{
				{ID: "s", Role: abi.RoleSystem, Content: abi.Text(words(window * share / word))},
				{ID: "u", Role: abi.RoleUser, Content: abi.Text("Mend the export.")},
			}
			read := func(n int) {
				for i := range n {
					list = append(list, call("read", fmt.Sprintf(`{"path":"src/later/mod_%d.ts"}`, i), words(120), false)...)
				}
			}
			read(15)
			list = append(list, abi.Message{ID: "rule", Role: abi.RoleUser, Content: abi.Text(rule)})
			for range 4 {
				list = append(list, call("edit", `{"path":"src/export/batch.ts","old":"a","new":"b"}`, "ok", false)...)
				list = append(list, call("bash", fmt.Sprintf(`{"command":%q}`, command), "Exit code 1\n"+failure, true)...)
			}
			read(15)
			list = append(list, abi.Message{ID: "last", Role: abi.RoleUser, Content: abi.Text("Go on.")})
			r := compact(t, c, request(window, list)).Report
			for _, want := range []string{rule, failure, command, "batch.ts"} {
				if !strings.Contains(r.Summary, want) {
					t.Errorf("window %d, %d%% pinned, %d tokens: %q is missing in\n%s", window, share, r.TokensAfter, want, r.Summary)
				}
			}
		}
	}
}
