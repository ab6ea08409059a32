package kagewasm_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies"
)

// failing is a session of n calls that fail, each with a text of its own and much output.
func failing(n int) []abi.Message {
	msgs := []abi.Message{{ID: "task", Role: abi.RoleUser, Content: abi.Text("Make the build pass.")}}
	for i := range n {
		id := fmt.Sprintf("c%d", i)
		call := abi.ToolCall{ID: id, Name: "bash", Arguments: fmt.Sprintf(`{"command":"make target_%d"}`, i)}
		output := strings.Repeat(fmt.Sprintf("compiling part %d of it\n", i), 60) + failedWith(i)
		msgs = append(msgs, abi.Message{ID: "a" + id, Role: abi.RoleAssistant, ToolCalls: []abi.ToolCall{call}},
			abi.Message{ID: "r" + id, Role: abi.RoleTool, ToolCallID: id, Content: abi.Text(output), IsError: true})
	}
	return msgs
}

func failedWith(i int) string { return fmt.Sprintf("error: symbol kw_%d is not defined", i) }

// lostFailures are those of the first n that stand neither in the note nor in what stays.
func lostFailures(msgs []abi.Message, n int) (lost []string) {
	var all strings.Builder
	for i := range msgs {
		all.WriteString(msgs[i].Text() + "\n")
	}
	for i := range n {
		if !strings.Contains(all.String(), failedWith(i)+"\n") {
			lost = append(lost, failedWith(i))
		}
	}
	return lost
}

// TestFailuresBesideAPlugin: a plugin that answers with a list, and fills what it is told it may, leaves the note room
// for all that failed, as a strategy of the host's does.
func TestFailuresBesideAPlugin(t *testing.T) {
	features.Proves(t, "I4", "I10", "O2")
	const calls = 60
	window := 32_000
	fills := compactor(func(in *abi.Input) (*abi.Output, error) {
		left, first := in.Budget.TargetTokens-in.Messages[0].Tokens, len(in.Messages)
		for first > 2 && in.Messages[first-1].Tokens+in.Messages[first-2].Tokens <= left {
			first -= 2
			left -= in.Messages[first].Tokens + in.Messages[first+1].Tokens
		}
		keep := make(map[string]bool)
		for i := first; i < len(in.Messages); i++ {
			keep[in.Messages[i].ID] = true
		}
		return keepOnly("", func(m *abi.InputMessage) bool { return m.Pinned || m.ID == "task" || keep[m.ID] })(in)
	})
	for name, opts := range map[string]kagewasm.Options{
		"none": {Counter: realCounter()}, "a list": {Counter: realCounter(), Plugins: plugins(fills)},
	} {
		t.Run(name, func(t *testing.T) {
			opts.Policy.Prune = strategies.PruneConfig{Off: true}
			r := compact(t, newCompactor(t, opts), request(window, failing(calls)))
			m := r.Report.Metrics
			if lost := lostFailures(r.Messages, calls); len(lost) > 0 || m.FailuresGone < calls/3 ||
				m.FailuresTold != m.FailuresGone || r.Report.TokensAfter > r.Report.Target {
				t.Errorf("%d of %d told, %d tokens of %d: lost %q", m.FailuresTold, m.FailuresGone, r.Report.TokensAfter,
					r.Report.Target, lost)
			}
			if by := r.Report.Source.Type; name != "none" && by != abi.SourcePlugin {
				t.Errorf("the plan is of %s: %v", by, r.Report.Failures)
			}
		})
	}
}

// TestFailuresInSmallWindows: in a chain of compactions with targets of a few thousand tokens what failed stays.
func TestFailuresInSmallWindows(t *testing.T) {
	features.Proves(t, "I4", "I10")
	const calls = 24
	c := newCompactor(t, kagewasm.Options{Counter: realCounter(),
		Policy: kagewasm.Policy{When: kagewasm.When{Lower: 0.45}}})
	var msgs []abi.Message
	compactions := 0
	list := failing(calls)
	for i := range calls {
		list = append(list, abi.Message{ID: fmt.Sprint("w", i), Role: abi.RoleAssistant,
			Content: abi.Text(strings.Repeat("Something else is done. ", 60))})
	}
	for _, m := range list {
		msgs = append(msgs, m)
		if m.Role == abi.RoleAssistant && len(m.ToolCalls) > 0 {
			continue
		}
		r := compact(t, c, request(12_000, msgs))
		if msgs = r.Messages; r.Report.Compacted {
			compactions++
		}
	}
	if lost := lostFailures(msgs, calls); len(lost) > 0 || compactions < 2 {
		t.Errorf("%d compactions: lost %q", compactions, lost)
	}
}

// TestEarlierNotesFade: what an earlier note says does not lose most of its room where little more goes: a compaction
// by hand right behind another one has three quarters of it.
func TestEarlierNotesFade(t *testing.T) {
	features.Proves(t, "N8", "complaint 2")
	c := newCompactor(t, kagewasm.Options{Counter: realCounter()})
	first := compact(t, c, request(32_000, failing(110)))
	req := request(32_000, first.Messages)
	req.Force = true
	second := compact(t, c, req)
	if a, b := first.Report.Metrics.NoteTokens, second.Report.Metrics.NoteTokens; b < a*7/10 || a < 3000 {
		t.Errorf("a note of %d tokens became one of %d", a, b)
	}
	if second.Report.TokensAfter > second.Report.Target {
		t.Errorf("%d tokens, %d allowed", second.Report.TokensAfter, second.Report.Target)
	}
}
