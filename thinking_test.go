package kagewasm_test

import (
	"slices"
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
)

// thoughtful is a session whose answers hold thinking that their provider signed.
func thoughtful() []abi.Message {
	msgs := chat(60)
	for i := range msgs {
		if m := &msgs[i]; m.Role == abi.RoleAssistant {
			m.Content = abi.Parts(abi.RawPart("thinking", []byte(`{"type":"thinking","thinking":"hm","signature":"c2ln"}`)),
				abi.TextPart(m.Text()))
		}
	}
	return msgs
}

// withThinking are the messages that hold thinking.
func withThinking(msgs []abi.Message) (ids []string) {
	for i := range msgs {
		if _, had := msgs[i].WithoutThinking(); had {
			ids = append(ids, msgs[i].ID)
		}
	}
	return ids
}

// Providers that tie thinking to what stood before it get none behind the note, where
// the policy says so; without it the report warns, for those models alone.
func TestThinkingBehindTheNote(t *testing.T) {
	run := func(t *testing.T, drop bool, model string) *kagewasm.Result {
		t.Helper()
		var p kagewasm.Policy
		p.Keep.DropThinking = drop
		req := request(400, thoughtful())
		req.Session.Model = model
		r := compact(t, newCompactor(t, kagewasm.Options{Policy: p}), req)
		if !r.Report.Compacted {
			t.Fatal(r.Report.Reason)
		}
		return r
	}
	t.Run("kept, and told", func(t *testing.T) {
		r := run(t, false, "claude-opus-5-5")
		if len(withThinking(r.Messages)) == 0 || !strings.Contains(r.Report.Warning, "drop_thinking") {
			t.Errorf("%d answers with thinking, warning %q", len(withThinking(r.Messages)), r.Report.Warning)
		}
	})
	t.Run("of another model it may stay", func(t *testing.T) {
		if r := run(t, false, "claude-opus-4-8"); r.Report.Warning != "" || len(withThinking(r.Messages)) == 0 {
			t.Errorf("warning %q", r.Report.Warning)
		}
	})
	t.Run("what is marked stays to the byte", func(t *testing.T) {
		for name, how := range map[string]func(*kagewasm.Options, []abi.Message, int){
			"by its meta": func(_ *kagewasm.Options, msgs []abi.Message, i int) {
				msgs[i].Meta = abi.Meta{abi.MetaAlwaysKeep: []byte("true")}
			},
			"by the operator": func(o *kagewasm.Options, msgs []abi.Message, i int) {
				o.Policy.Keep.Always = []func(*abi.Message) bool{func(m *abi.Message) bool { return m.ID == msgs[i].ID }}
			},
			"by a plugin": func(o *kagewasm.Options, msgs []abi.Message, i int) {
				o.Plugins = plugins(&fakePlugin{Name: "pins", Pre: answers(&abi.Output{AlwaysKeep: []string{msgs[i].ID}})})
			},
		} {
			msgs := thoughtful()
			i := slices.IndexFunc(msgs, func(m abi.Message) bool { return m.Role == abi.RoleAssistant })
			var opts kagewasm.Options
			opts.Policy.Keep.DropThinking = true
			how(&opts, msgs, i)
			req := request(700, msgs)
			req.Session.Model = "claude-opus-5-5"
			r := compact(t, newCompactor(t, opts), req)
			at := slices.IndexFunc(r.Messages, func(m abi.Message) bool { return m.ID == msgs[i].ID })
			if at < 0 || !r.Messages[at].Same(&msgs[i]) || len(r.Report.Pruned.Thinking) == 0 ||
				slices.Contains(r.Report.Pruned.Thinking, msgs[i].ID) {
				t.Errorf("%s: at %d, thinking of %v went", name, at, r.Report.Pruned.Thinking)
			}
			if !slices.Equal(withThinking(r.Messages), []string{msgs[i].ID}) ||
				!strings.Contains(r.Report.Warning, "1 marked answers") {
				t.Errorf("%s: %v hold thinking, warning %q", name, withThinking(r.Messages), r.Report.Warning)
			}
		}
	})
	t.Run("left out", func(t *testing.T) {
		kept, r := run(t, false, "claude-opus-5-5"), run(t, true, "claude-opus-5-5")
		if left := withThinking(r.Messages); len(left) > 0 || r.Report.Warning != "" {
			t.Errorf("%v hold thinking, warning %q", left, r.Report.Warning)
		}
		if want := withThinking(kept.Messages); len(want) == 0 || !slices.Equal(r.Report.Pruned.Thinking, want) {
			t.Errorf("told of %v, want %v", r.Report.Pruned.Thinking, want)
		}
		for i := range r.Messages {
			if was := kept.Messages[i].Text(); r.Messages[i].Role == abi.RoleAssistant && r.Messages[i].Text() != was {
				t.Errorf("%s: %q, was %q", r.Messages[i].ID, r.Messages[i].Text(), was)
			}
		}
	})
}

// Pruning changes what stands before an answer just as a compaction does. What stands
// before the first change stays as it is.
func TestThinkingBehindWhatWasPruned(t *testing.T) {
	msgs := thoughtful()
	var p kagewasm.Policy
	p.Keep.DropThinking, p.Prune.ProtectTokens, p.Prune.MinimumSavings = true, -1, -1
	r := compact(t, newCompactor(t, kagewasm.Options{Policy: p}), request(1_000_000, msgs))
	first := slices.IndexFunc(msgs, func(m abi.Message) bool {
		return m.Role == abi.RoleTool && slices.Contains(r.Report.Pruned.IDs, m.ID)
	})
	if r.Report.Compacted || first < 0 {
		t.Fatalf("pruned %v: %s", r.Report.Pruned.IDs, r.Report.Reason)
	}
	left := withThinking(r.Messages)
	if want := withThinking(msgs[:first]); len(want) == 0 || !slices.Equal(left, want) {
		t.Errorf("%v hold thinking, want %v", left, want)
	}
}
