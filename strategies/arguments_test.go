package strategies_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/sessiongen"
	"github.com/kagewasm/kagewasm/strategies"
)

// always prunes arguments wherever they stand.
var always = strategies.PruneConfig{Arguments: strategies.ArgumentsIteration, ProtectPercent: -1}

func pruneArguments(msgs []abi.Message, cfg strategies.PruneConfig) []abi.Edit {
	return strategies.PruneArguments(whole(msgs), false, cfg)
}

func TestArguments(t *testing.T) {
	features.Proves(t, "A13")
	long := strings.Repeat("word", 250)
	short := strings.Repeat("word", 10)
	for _, tc := range []struct{ why, arguments, want string }{
		{"keys, paths and commands stay, long texts go",
			object("path", "a/b.go", "content", long, "mode", 420, "command", "go vet"),
			`{"path":"a/b.go","content":"[Pruned — 250 tokens]","mode":420,"command":"go vet"}`},
		{"texts in lists and objects, too", object("path", "a", "edits", []any{map[string]any{"new": long, "old": short}}),
			`{"path":"a","edits":[{"new":"[Pruned — 250 tokens]","old":"` + short + `"}]}`},
		{"a long list of short things goes whole",
			object("path", "a", "todos", strings.Fields(strings.Repeat(short+" ", 30))),
			`{"path":"a","todos":"[Pruned — 323 tokens]"}`},
		{"a long number is no short value", `{"n":` + strings.Repeat("1", 1000) + `}`, `{"n":"[Pruned — 250 tokens]"}`},
		{"keys stay in their order, twice the same too", `{ "b": "` + long + `", "a": 1, "b": 2 }`,
			`{"b":"[Pruned — 250 tokens]","a":1,"b":2}`},
		{"what is written with escapes is one text", `{"s":"` + strings.Repeat(`\u00e4\n`, 500) + `"}`,
			`{"s":"[Pruned — 250 tokens]"}`},
		{"exactly 200 tokens stay", object("c", strings.Repeat("x", 800-8)), ""},
		{"one more goes", object("c", strings.Repeat("x", 800-7)), `{"c":"[Pruned — 199 tokens]"}`},
		{"short values alone stay", object("a", short, "b", short, "c", strings.Repeat("x", 255-2), "d",
			strings.Repeat("x", 254), "e", strings.Repeat("y", 254)), ""},
		{"a list is no object: a text in its place", "[" + `"` + long + `"` + "]", `"[Pruned — 251 tokens]"`},
		{"a text that is no JSON, too", "*** Begin Patch " + long, "[Pruned — 254 tokens]"},
		{"an object that breaks off", `{"content":"` + long, "[Pruned — 253 tokens]"},
		{"markers in what stays are broken up", object("path", "<|x|>", "c", long),
			`{"path":"\u003c|x|\u003e","c":"[Pruned — 250 tokens]"}`},
		{"nothing of nothing", "", ""},
	} {
		t.Run(tc.why, func(t *testing.T) {
			msgs := called(tc.arguments)
			edits := pruneArguments(msgs, always)
			got := ""
			if len(edits) > 0 {
				got = edits[0].Text
			}
			if got != tc.want || len(edits) > 1 {
				t.Errorf("%q, want %q", got, tc.want)
			}
			after := edited(t, msgs, edits, count)
			if again := pruneArguments(after, always); len(again) > 0 {
				t.Errorf("again: %+v", again)
			}
		})
	}
}

// TestWhere: the mode, and which calls are old enough.
func TestWhere(t *testing.T) {
	features.Proves(t, "A13")
	args := object("content", strings.Repeat("word", 297)) // 300 tokens, a call of 303 with its result
	msgs := called(args, args, args)
	all := "ac1 ac3 ac5"
	keep := called(args, args, args)
	keep[3].Meta = abi.Meta{abi.MetaAlwaysKeep: []byte("true")}
	busy := called(args, args)[:5] // the last unit is the current turn
	two := called(args)
	two[1].ToolCalls = append(two[1].ToolCalls, abi.ToolCall{ID: "x", Name: "ls", Arguments: "{}"}, two[1].ToolCalls[0])
	for _, tc := range []struct {
		why        string
		msgs       []abi.Message
		window     int
		compaction bool
		cfg        strategies.PruneConfig
		want       string
	}{
		{"off is the default", msgs, 0, true, strategies.PruneConfig{}, ""},
		{"before every call", msgs, 0, false, strategies.PruneConfig{Arguments: strategies.ArgumentsIteration}, all},
		{"with a compaction only", msgs, 0, false, strategies.PruneConfig{Arguments: strategies.ArgumentsCompaction}, ""},
		{"and then", msgs, 0, true, strategies.PruneConfig{Arguments: strategies.ArgumentsCompaction}, all},
		{"no pruning is none of arguments either", msgs, 0, true,
			strategies.PruneConfig{Arguments: strategies.ArgumentsIteration, Off: true}, ""},
		{"30% of 1,000 tokens: the newest call stays, it crosses the line", msgs, 1000, false,
			strategies.PruneConfig{Arguments: strategies.ArgumentsIteration}, "ac1 ac3"},
		{"60% of them", msgs, 1000, false, strategies.PruneConfig{Arguments: strategies.ArgumentsIteration,
			ProtectPercent: 60}, "ac1"},
		{"a window that holds all", msgs, 100_000, false,
			strategies.PruneConfig{Arguments: strategies.ArgumentsIteration}, ""},
		{"pinned ones stay", keep, 0, false, always, "ac1 ac5"},
		{"the current turn stays", busy, 0, false, always, "ac1"},
		{"each call by itself", two, 0, false, always, "ac1 ac1"},
		{"a higher threshold", msgs, 0, false, strategies.PruneConfig{Arguments: strategies.ArgumentsIteration,
			ProtectPercent: -1, ArgThreshold: 301}, ""},
	} {
		t.Run(tc.why, func(t *testing.T) {
			v := whole(tc.msgs)
			v.Window = tc.window
			edits := strategies.PruneArguments(v, tc.compaction, tc.cfg)
			if got := editsOf(edits); got != tc.want {
				t.Errorf("edits %q, want %q", got, tc.want)
			}
			edited(t, tc.msgs, edits, count)
		})
	}
}

// longCalls are sessions whose calls have long arguments of all kinds.
func longCalls(t *rapid.T) []abi.Message {
	msgs := sessiongen.Messages(30).Draw(t, "session")
	word := rapid.StringN(0, 40, -1)
	for i := range msgs {
		for k := range msgs[i].ToolCalls {
			long := strings.Repeat(word.Draw(t, "word"), rapid.IntRange(0, 60).Draw(t, "times"))
			var args string
			switch rapid.IntRange(0, 5).Draw(t, "form") {
			case 0:
				args = long
			case 1:
				args = object("l", []any{long, []any{[]any{map[string]any{"x": []any{[]any{long}}}}}})
			case 2:
				args = object("many", strings.Split(long, ""), word.Filter(isKey).Draw(t, "key"), 1)
			default:
				args = object("path", "a.go", "content", long, "n", 1.5, "o", map[string]any{"text": long})
			}
			msgs[i].ToolCalls[k].Arguments = args
		}
	}
	return msgs
}

func isKey(s string) bool { return !strings.ContainsAny(s, "\"\\") && json.Valid([]byte(`"`+s+`"`)) }

func TestArgumentsProperties(t *testing.T) {
	features.Proves(t, "A13")
	did := 0
	rapid.Check(t, func(t *rapid.T) {
		msgs := longCalls(t)
		cfg := strategies.PruneConfig{Arguments: strategies.ArgumentsIteration,
			ProtectPercent: rapid.SampledFrom([]int{-1, 0, 100}).Draw(t, "protect"),
			ArgThreshold:   rapid.IntRange(-1, 300).Draw(t, "threshold")}
		after := checkEdits(t, msgs, func(msgs []abi.Message) []abi.Edit { return pruneArguments(msgs, cfg) })
		for i := range msgs {
			for k := range msgs[i].ToolCalls {
				was, is := msgs[i].ToolCalls[k].Arguments, after[i].ToolCalls[k].Arguments
				if was != is {
					did++
					sameKeys(t, was, is)
				}
			}
		}
	})
	if did == 0 {
		t.Error("nothing was ever pruned: nothing was shown")
	}
}

// sameKeys: what was an object has the keys it had.
func sameKeys(t *rapid.T, was, is string) {
	t.Helper()
	var a, b map[string]any
	if json.Unmarshal([]byte(was), &a) != nil {
		return
	}
	if err := json.Unmarshal([]byte(is), &b); err != nil || len(a) != len(b) {
		t.Fatalf("%q became %q", was, is)
	}
}
