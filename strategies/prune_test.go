package strategies_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/sessiongen"
	"github.com/kagewasm/kagewasm/strategies"
)

var count = sessiongen.Counter{}

// results makes a session of calls to tools, each answered by a result of so
// many tokens, frame included: "bash:1000".
func results(list ...string) []abi.Message {
	msgs := []abi.Message{{ID: "u", Role: abi.RoleUser, Content: abi.Text("go")}}
	for i, s := range list {
		tool, size, _ := strings.Cut(s, ":")
		n := 0
		fmt.Sscan(size, &n)
		call := fmt.Sprint("c", i)
		msgs = append(msgs,
			abi.Message{ID: fmt.Sprint("a", i), Role: abi.RoleAssistant,
				ToolCalls: []abi.ToolCall{{ID: call, Name: tool, Arguments: "{}"}}},
			abi.Message{ID: fmt.Sprint("r", i), Role: abi.RoleTool, ToolCallID: call,
				Content: abi.Text(strings.Repeat("word", n-1))})
	}
	return msgs
}

func prune(msgs []abi.Message, cfg strategies.PruneConfig) []abi.Edit {
	return strategies.Prune(strategies.NewList(msgs, count.Tokens(msgs), abi.Pinned(msgs), 0), cfg, count)
}

// pruned applies edits.
func pruned(msgs []abi.Message, edits []abi.Edit) []abi.Message {
	text := map[string]string{}
	for _, e := range edits {
		text[e.ID] = e.Text
	}
	out := append([]abi.Message(nil), msgs...)
	for i := range out {
		if s, ok := text[out[i].ID]; ok {
			out[i].Content = abi.Text(s)
		}
	}
	return out
}

func TestPrune(t *testing.T) {
	features.Proves(t, "K20")
	keep := results("bash:30000", "bash:30000", "bash:50000")
	keep[2].Meta = abi.Meta{abi.MetaAlwaysKeep: []byte("true")}
	own := results("bash:30000", "bash:30000", "bash:50000")
	own[2].Name = "skill" // the result's own name counts before the call's
	reused := results("bash:30000", "read:30000", "bash:50000")
	for i := range reused { // both calls have one id: each result is its own call's
		reused[i].ToolCallID = strings.Replace(reused[i].ToolCallID, "c1", "c0", 1)
		for k := range reused[i].ToolCalls {
			reused[i].ToolCalls[k].ID = strings.Replace(reused[i].ToolCalls[k].ID, "c1", "c0", 1)
		}
	}
	again := results("bash:30000", "read:30000", "bash:50000") // the call to read is answered twice
	again = append(again[:5:5], append([]abi.Message{{ID: "again", Role: abi.RoleTool, ToolCallID: "c1",
		Content: again[4].Content}}, again[5:]...)...)
	parts := results("bash:30000", "bash:50000")
	parts[2].Content = abi.Parts(abi.TextPart(parts[2].Text()))
	all := strategies.PruneConfig{ProtectTokens: -1, MinimumSavings: -1}
	for _, tc := range []struct {
		why  string
		msgs []abi.Message
		cfg  strategies.PruneConfig
		want string // ids pruned
	}{
		{"the newest 40,000 tokens of output stay, the one that crosses the line with them",
			results("bash:25000", "bash:25000", "bash:30000", "bash:9999", "bash:1"), strategies.PruneConfig{}, "r0 r1"},
		{"exactly 40,000 newer ones are the line", results("bash:25000", "bash:30000", "bash:10000"),
			strategies.PruneConfig{}, "r0"},
		{"one token short of it is not", results("bash:25000", "bash:30000", "bash:9999"), strategies.PruneConfig{}, ""},
		{"messages that are no tool output do not count",
			append(results("bash:25000", "bash:30000"),
				abi.Message{ID: "x", Role: abi.RoleUser, Content: abi.Text(strings.Repeat("word", 90000))}),
			strategies.PruneConfig{}, ""},
		{"less than 20,000 saved is not worth it", results("bash:10000", "bash:10000", "bash:50000"),
			strategies.PruneConfig{}, ""},
		{"20,000 saved is", results("bash:10010", "bash:10010", "bash:50000"), strategies.PruneConfig{}, "r0 r1"},
		{"read and skill are protected, whatever the case",
			results("Read:30000", "SKILL:30000", "bash:30000", "bash:50000"), strategies.PruneConfig{}, "r2"},
		{"only the whole name protects", results("read_file:30000", "bash:50000"), strategies.PruneConfig{}, "r0"},
		{"and so is a second result of theirs", again, strategies.PruneConfig{}, "r0"},
		{"protected output counts as output", results("bash:30000", "read:50000"), strategies.PruneConfig{}, "r0"},
		{"a result's own name comes first", own, strategies.PruneConfig{}, "r1"},
		{"a call id used again means the later call", reused, strategies.PruneConfig{}, "r0"},
		{"pinned output stays", keep, strategies.PruneConfig{}, "r1"},
		{"output in parts is output", parts, strategies.PruneConfig{}, "r0"},
		{"where the notice is no shorter it is not put", results("bash:5", "bash:6", "bash:7"), all, "r2"},
		{"protecting nothing and saving anything", results("bash:30", "read:30", "bash:20"), all, "r0 r2"},
		{"protected tools can be set", results("bash:30", "read:30"),
			strategies.PruneConfig{ProtectTokens: -1, MinimumSavings: -1, ProtectedTools: []string{"BASH"}}, "r1"},
		{"to none, too", results("bash:30", "read:30"), strategies.PruneConfig{ProtectTokens: -1, MinimumSavings: -1,
			ProtectedTools: []string{}}, "r0 r1"},
		{"the limits can be set", results("bash:100", "bash:100", "bash:100"),
			strategies.PruneConfig{ProtectTokens: 100, MinimumSavings: 150}, "r0 r1"},
		{"off is off", results("bash:90000", "bash:90000"), strategies.PruneConfig{Off: true}, ""},
		{"nothing to prune in nothing", nil, all, ""},
	} {
		t.Run(tc.why, func(t *testing.T) {
			edits := prune(tc.msgs, tc.cfg)
			var got []string
			for _, e := range edits {
				got = append(got, e.ID)
				if e.Call != abi.EditContent {
					t.Errorf("edits call %d of %s", e.Call, e.ID)
				}
			}
			if strings.Join(got, " ") != tc.want {
				t.Errorf("pruned %v, want %q", got, tc.want)
			}
		})
	}
}

func TestNotice(t *testing.T) {
	features.Proves(t, "K20")
	edits := prune(results("bash:30000", "bash:50000"), strategies.PruneConfig{})
	if len(edits) != 1 || edits[0].Text != "[Pruned — 30000 tokens]" || edits[0].Text != strategies.PruneNotice(30000) {
		t.Errorf("edits %+v", edits)
	}
}

// TestPruneProperties: pruning never touches what is not old tool output, saves
// what it says, and pruning again changes nothing.
func TestPruneProperties(t *testing.T) {
	features.Proves(t, "K20")
	did := 0
	rapid.Check(t, func(t *rapid.T) {
		msgs := sessiongen.Messages(60).Draw(t, "session")
		cfg := strategies.PruneConfig{
			ProtectTokens:  rapid.SampledFrom([]int{-1, 20, 100, 400}).Draw(t, "protect"),
			MinimumSavings: rapid.SampledFrom([]int{-1, 1, 50}).Draw(t, "minimum"),
		}
		edits := prune(msgs, cfg)
		did += len(edits)
		after := pruned(msgs, edits)
		pins := abi.Pinned(msgs)
		newer := 0
		for i := len(msgs) - 1; i >= 0; i-- {
			same := reflect.DeepEqual(msgs[i], after[i])
			if !same && (msgs[i].Role != abi.RoleTool || pins[i] || strings.EqualFold(msgs[i].Name, "read") ||
				newer < cfg.ProtectTokens) {
				t.Fatalf("%+v was pruned", msgs[i])
			}
			if msgs[i].Role == abi.RoleTool {
				newer += count.Message(&msgs[i])
			}
		}
		saved := sessiongen.Sum(count.Tokens(msgs)) - sessiongen.Sum(count.Tokens(after))
		if len(edits) > 0 && saved < max(1, cfg.MinimumSavings) {
			t.Fatalf("%d edits save %d", len(edits), saved)
		}
		if again := prune(after, cfg); len(again) > 0 {
			t.Fatalf("pruning again edits %+v", again)
		}
	})
	if did == 0 {
		t.Error("nothing was ever pruned: nothing was shown")
	}
}

// TestAgain: a notice is shorter than another one, and stays all the same.
func TestAgain(t *testing.T) {
	features.Proves(t, "K20")
	cfg := strategies.PruneConfig{ProtectTokens: -1, MinimumSavings: -1}
	msgs := results("bash:1234567", "bash:30")
	perRune := sessiongen.Counter{Runes: 1}
	do := func(msgs []abi.Message) []abi.Edit {
		return strategies.Prune(strategies.NewList(msgs, perRune.Tokens(msgs), abi.Pinned(msgs), 0), cfg, perRune)
	}
	after := pruned(msgs, do(msgs))
	if again := do(after); len(again) > 0 || after[2].Text() == msgs[2].Text() {
		t.Errorf("pruning again edits %+v", again)
	}
}
