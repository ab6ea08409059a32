package kagewasm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/set"
	"github.com/kagewasm/kagewasm/strategies"
	"github.com/kagewasm/kagewasm/tokens"
)

// worked is a session of two turns: the second one has many steps, each of which reads one file and edits another.
func worked(steps int) []abi.Message {
	words := strings.Repeat("word ", 40)
	msgs := []abi.Message{{ID: "task", Role: abi.RoleUser, Content: abi.Text("Build the parser.")},
		{ID: "a0", Role: abi.RoleAssistant, Content: abi.Text("It is built. " + words)},
		{ID: "more", Role: abi.RoleUser, Content: abi.Text("Now the printer.")}}
	for i := range steps {
		call := func(what, tool, file string) abi.Message {
			return abi.Message{ID: fmt.Sprintf("%s%d", what, i), Role: abi.RoleAssistant, Content: abi.Text(words),
				ToolCalls: []abi.ToolCall{{ID: fmt.Sprintf("%s-%d", what, i), Name: tool,
					Arguments: fmt.Sprintf(`{"file_path":"/src/%s%d.go","old_string":"a","new_string":"b"}`, file, i)}}}
		}
		result := func(what string) abi.Message {
			return abi.Message{ID: fmt.Sprintf("%s%d.r", what, i), Role: abi.RoleTool,
				ToolCallID: fmt.Sprintf("%s-%d", what, i), Content: abi.Text(words)}
		}
		msgs = append(msgs, call("r", "Read", "in"), result("r"), call("e", "Edit", "out"), result("e"))
	}
	return msgs
}

// earlierSummary is a message that an earlier compaction left.
func earlierSummary(text string) abi.Message {
	return abi.Message{ID: "kw-1", Role: abi.RoleUser, Kind: abi.KindSummary,
		Content: abi.Text(abi.Fence(abi.KindSummary, "model:m", "Record of earlier messages.", text))}
}

// TestPrepareAndRecordName: "The entry names the first kept message", and what is prepared is the entry that a
// compaction would make: both name the same, also where the request of the turn that is split stays before the cut.
func TestPrepareAndRecordName(t *testing.T) {
	features.Proves(t, "T4")
	for why, tc := range map[string]struct {
		msgs   []abi.Message
		window int
		keep   strategies.KeepConfig
		split  bool // the turn's request stays before the cut
	}{
		"a turn that is split": {worked(12), 1000, strategies.KeepConfig{Tokens: 40}, true},
		"the first turn":       {long(), longWindow, strategies.KeepConfig{Messages: 9}, false},
		"a system prompt behind the first words": {slices.Concat(long()[1:2], long()[:1], long()[2:]), longWindow,
			strategies.KeepConfig{Messages: 9}, false},
	} {
		t.Run(why, func(t *testing.T) {
			policy := kagewasm.Policy{Keep: tc.keep}
			c := newCompactor(t, kagewasm.Options{Policy: policy, Model: writes("All is well.")})
			p, err := c.Prepare(t.Context(), request(tc.window, tc.msgs))
			if err != nil {
				t.Fatal(err)
			}
			r := compact(t, c, request(tc.window, tc.msgs))
			if r.Report.Source.Type != abi.SourceModel || !slices.Equal(r.Report.Superseded, p.Superseded) {
				t.Fatalf("by %+v, %v goes, and %v was prepared", r.Report.Source, r.Report.Superseded, p.Superseded)
			}
			if p.FirstKept == "" || p.FirstKept != r.Record.FirstKept || (p.Cut != p.FirstKept) != tc.split {
				t.Errorf("%q was prepared, cut before %q, and the record names %q", p.FirstKept, p.Cut, r.Record.FirstKept)
			}
		})
	}
}

// TestPrepareTells: what a summary would be made of is told before a model is asked: the previous compaction, where
// what is summarized begins, what the session costs, where the cut falls and whether it splits a turn, the messages to
// summarize, and which files they read and modified.
func TestPrepareTells(t *testing.T) {
	features.Proves(t, "T4")
	c := newCompactor(t, kagewasm.Options{})
	msgs := slices.Insert(worked(12), 1, earlierSummary("The lexer is done."))
	cost := 7
	for i := range msgs {
		cost += wordCounter{}.Message(&msgs[i])
	}
	req := request(cost, msgs)
	req.Overhead = 7
	p, err := c.Prepare(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if p.TokensBefore != cost || p.Previous != "kw-1" || p.PreviousSummary != "The lexer is done." || p.Boundary != "a0" {
		t.Errorf("%d tokens of %d, previous %q %q, from %q on", p.TokensBefore, cost, p.Previous, p.PreviousSummary,
			p.Boundary)
	}
	at := slices.IndexFunc(msgs, func(m abi.Message) bool { return m.ID == p.Cut })
	if at < 0 || p.FirstKept != "more" {
		t.Fatalf("the cut falls before %q, and %q is kept first", p.Cut, p.FirstKept)
	}
	gone := set.Of(p.Superseded...)
	for i := range msgs {
		m := &msgs[i]
		if asks := m.ID == "task" || m.ID == "more"; gone[m.ID] != (i < at && !asks) {
			t.Errorf("%s goes: %v, and all from %s on is kept", m.ID, gone[m.ID], p.Cut)
		}
	}
	if !p.SplitTurn || !slices.Equal(p.Summarize, []string{"a0"}) || p.TurnPrefix[0] != "r0" ||
		p.TurnPrefix[len(p.TurnPrefix)-1] != msgs[at-1].ID {
		t.Errorf("split %v, %q before the turn, and of it %q, up to %s", p.SplitTurn, p.Summarize, p.TurnPrefix,
			msgs[at-1].ID)
	}
	var read, modified []string
	for i := range msgs[:at] {
		for _, call := range msgs[i].ToolCalls {
			var arguments map[string]string
			if err := json.Unmarshal([]byte(call.Arguments), &arguments); err != nil {
				t.Fatal(err)
			}
			if call.Name == "Read" {
				read = append(read, arguments["file_path"])
			} else {
				modified = append(modified, arguments["file_path"])
			}
		}
	}
	slices.Sort(read)
	slices.Sort(modified)
	if len(read) == 0 || !slices.Equal(p.Files.Read, read) || !slices.Equal(p.Files.Modified, modified) {
		t.Errorf("read %q, want %q; modified %q, want %q", p.Files.Read, read, p.Files.Modified, modified)
	}
}

// TestPrepareTellsDue: a preparation says where a compaction starts, whether the session is there, and what its target
// is worked out from.
func TestPrepareTellsDue(t *testing.T) {
	features.Proves(t, "T4")
	msgs, cost := worked(12), 0
	for i := range msgs {
		cost += wordCounter{}.Message(&msgs[i])
	}
	type ask = kagewasm.Request
	named := cost / 10
	for why, tc := range map[string]struct {
		window int
		change func(*ask, *kagewasm.Policy)
		of     strategies.TargetOf
		due    bool
		target int
	}{
		"reached":     {cost, nil, "window", true, cost * 6 / 10},
		"not reached": {cost * 3 / 2, nil, "window", false, cost * 9 / 10},
		"asked for": {cost * 5, func(r *ask, _ *kagewasm.Policy) { r.Force = true },
			"session", true, cost * 6 / 10},
		"named": {cost * 5, func(r *ask, _ *kagewasm.Policy) { r.Target = &named },
			"named", false, named},
		"in tokens": {cost * 5, func(_ *ask, p *kagewasm.Policy) { p.When.MaxTokens = cost },
			"threshold", false, cost * 60 / 85},
		"switched off": {cost, func(_ *ask, p *kagewasm.Policy) { p.Disabled = true },
			"window", false, cost * 6 / 10},
	} {
		req := request(tc.window, msgs)
		var policy kagewasm.Policy
		if tc.change != nil {
			tc.change(&req, &policy)
		}
		p, err := newCompactor(t, kagewasm.Options{Policy: policy}).Prepare(t.Context(), req)
		if err != nil {
			t.Fatalf("%s: %v", why, err)
		}
		if p.Due != tc.due || p.TargetOf != tc.of || max(p.Target-tc.target, tc.target-p.Target) > 1 ||
			p.Window != tc.window || p.TokensPruned != cost {
			t.Errorf("%s: due %v, target %d of %s, window %d; want %+v", why, p.Due, p.Target, p.TargetOf, p.Window, tc)
		}
	}
}

// TestPrepareTellsShortened: where the session is within its target only once old output is shortened, the error gives
// the tokens of both.
func TestPrepareTellsShortened(t *testing.T) {
	features.Proves(t, "T4")
	msgs, cost := worked(12), 0
	for i := range msgs {
		if msgs[i].Role == abi.RoleTool {
			msgs[i].Content = abi.Text(strings.Repeat("word ", 400))
		}
		cost += wordCounter{}.Message(&msgs[i])
	}
	c := newCompactor(t, kagewasm.Options{Policy: kagewasm.Policy{
		Prune: strategies.PruneConfig{ProtectTokens: 100, MinimumSavings: 100, ProtectedTools: []string{}}}})
	p, err := c.Prepare(t.Context(), request(cost, msgs))
	if p != nil || !errors.Is(err, strategies.ErrNothing) || !strings.Contains(err.Error(), "within its target") ||
		!strings.Contains(err.Error(), fmt.Sprintf("its %d tokens are ", cost)) ||
		!strings.HasSuffix(err.Error(), " once old output is shortened") {
		t.Errorf("%d tokens: %+v, %v", cost, p, err)
	}
}

// TestPrepareTellsNone: there is no preparation where the last entry is a compaction or no cut is valid, and the error
// says which.
func TestPrepareTellsNone(t *testing.T) {
	features.Proves(t, "T4")
	pinned := worked(12)
	for i := range pinned {
		pinned[i].Meta = abi.Meta{abi.MetaAlwaysKeep: []byte("true")}
	}
	for why, tc := range map[string]struct {
		msgs   []abi.Message
		window int
		says   string
	}{
		"the last entry is a compaction": {append(worked(12), earlierSummary("All is done.")), 600, "ends in a summary"},
		"all is pinned":                  {pinned, 600, "all of it is pinned"},
		"nothing but a task":             {worked(12)[:1], 3, "all of it is pinned"},
		"the session is short":           {worked(12), 1 << 20, "within its target"},
	} {
		t.Run(why, func(t *testing.T) {
			p, err := newCompactor(t, kagewasm.Options{}).Prepare(t.Context(), request(tc.window, tc.msgs))
			if p != nil || !errors.Is(err, strategies.ErrNothing) || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%+v, %v, want %q", p, err, tc.says)
			}
		})
	}
	c := newCompactor(t, kagewasm.Options{})
	if _, err := c.Prepare(t.Context(), request(-1, worked(12))); abi.CodeOf(err) != abi.CodeUsage {
		t.Errorf("a window below 0: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if p, err := c.Prepare(ctx, request(600, worked(12))); p != nil || abi.CodeOf(err) != abi.CodeCanceled {
		t.Errorf("canceled: %+v, %v", p, err)
	}
}

// TestPrepareIsPure: to prepare asks no model and no plugin, tells no log, stores nothing and changes nothing, so that
// it comes to the same again, and a compaction to what it comes to where nothing was prepared.
func TestPrepareIsPure(t *testing.T) {
	features.Proves(t, "T4")
	told := 0
	nothing := func(*abi.Input) (*abi.Output, error) { return nil, nil }
	plugin, model := &fakePlugin{Name: "watcher", Pre: nothing, Turn: nothing, Post: nothing}, writes("The printer.")
	opts := kagewasm.Options{Model: model, Plugins: plugins(plugin), Memory: memory{},
		Lookup:  func(string) tokens.Model { return tokens.Model{ID: "m", TokenScale: 1.2} },
		Learned: func(string, int) { told++ }, Audit: func(kagewasm.Event) { told++ },
		Spans: func(context.Context, kagewasm.Span) { told++ }}
	req := request(20_000, worked(150)) // so long that what a provider counted corrects a model's scale
	req.Session.Model = "m"
	cost := 0
	for i := range req.Messages {
		cost += wordCounter{}.Message(&req.Messages[i])
	}
	before := asText(t, req.Messages)
	c := newCompactor(t, opts)
	disturbed := req
	disturbed.Used = &kagewasm.Used{Messages: len(req.Messages), Tokens: cost * 3 / 2}
	disturbed.Exceeded, disturbed.Reason = &abi.Exceeded{Tokens: cost, Limit: 9000}, abi.TriggerOverflow
	disturbed.Commit = func(context.Context, *kagewasm.Result) error { told++; return nil }
	disturbed.Audit = func(kagewasm.Event) { told++ }
	for _, r := range []kagewasm.Request{req, disturbed, req} {
		if _, err := c.Prepare(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	first, err := c.Prepare(t.Context(), req)
	again, errAgain := c.Prepare(t.Context(), req)
	if err != nil || errAgain != nil || asText(t, first) != asText(t, again) {
		t.Errorf("%v, %v: %s, then %s", err, errAgain, asText(t, first), asText(t, again))
	}
	if asked := len(plugin.Asked) + len(model.Requests()); asked+told != 0 || asText(t, req.Messages) != before {
		t.Errorf("%d were asked, %d told, the list changed: %v", asked, told, asText(t, req.Messages) != before)
	}
	got, want := compact(t, c, req), compact(t, newCompactor(t, opts), req)
	if asText(t, got.Report.Superseded) != asText(t, want.Report.Superseded) ||
		got.Report.Summary != want.Report.Summary ||
		asText(t, got.Report.Metrics.Cache) != asText(t, want.Report.Metrics.Cache) {
		t.Errorf("%s, and %s where nothing was prepared", asText(t, got.Report), asText(t, want.Report))
	}
	if prepared := set.Of(first.Superseded...); slices.ContainsFunc(got.Report.Superseded, func(id string) bool {
		return !prepared[id]
	}) {
		t.Errorf("%q goes, and %q was told", got.Report.Superseded, first.Superseded)
	}
}

func asText(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
