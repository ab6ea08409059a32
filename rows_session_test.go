package kagewasm_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/modeltest"
	"github.com/kagewasm/kagewasm/tokens"
)

// TestI5Triggers: the agent asks with its tool and gets it when the turn is
// over, the threshold starts one before a call, a person at once; the record
// says which it was.
func TestI5Triggers(t *testing.T) {
	c := newCompactor(t, kagewasm.Options{})
	s := open(t, c, 100_000, chat(60))
	end := s.BeginTurn()
	if _, ok, err := s.AnswerTool(kagewasm.ToolCompact, `{"focus":"the store"}`, kagewasm.AgentToolOptions{}); !ok || err != nil {
		t.Fatalf("%v, %v", ok, err)
	}
	if len(s.Compactions()) > 0 {
		t.Error("the agent's compaction ran inside its turn")
	}
	end()
	if _, r, err := s.EndOfTurn(t.Context()); err != nil || r == nil || !r.Report.Compacted || r.Record.Trigger != abi.TriggerPlugin {
		t.Errorf("the agent: %+v, %v", r, err)
	}
	s = open(t, c, 1000, chat(60))
	if d, err := c.Dispatch(t.Context(), s, said("x", nil)); err != nil || d.Results[0].Record.Trigger != abi.TriggerThreshold {
		t.Errorf("the threshold: %v", err)
	}
	s = open(t, c, 100_000, chat(60))
	if r, err := s.Compact(t.Context(), kagewasm.Request{}); err != nil || r.Record.Trigger != abi.TriggerManual {
		t.Errorf("a person: %v", err)
	}
}

// TestI9FastAndFull: the fast model does what nobody waits for, the full one
// what a person asked for, with the focus they gave (T8).
func TestI9FastAndFull(t *testing.T) {
	m := writes("all is well")
	c := newCompactor(t, kagewasm.Options{Model: m, Policy: kagewasm.Policy{Summarize: kagewasm.SummarizePolicy{Model: "full", FastModel: "fast"}}})
	for _, tc := range []struct {
		reason abi.TriggerReason
		model  string
	}{
		{abi.TriggerThreshold, "fast"}, {abi.TriggerOverflow, "fast"}, {abi.TriggerIdle, "fast"}, {abi.TriggerPlugin, "fast"}, {abi.TriggerManual, "full"},
	} {
		req := request(longWindow, long())
		req.Reason, req.Force, req.Instructions = tc.reason, tc.reason == abi.TriggerManual, "keep the ports in view"
		asked := len(m.Requests())
		compact(t, c, req)
		for _, r := range m.Requests()[asked:] {
			if r.Model != tc.model || !strings.Contains(r.Messages[0].Content, "keep the ports in view") {
				t.Errorf("%s: asked %q, want %q; T8: focus given: %v", tc.reason, r.Model, tc.model, strings.Contains(r.Messages[0].Content, "keep the ports"))
			}
		}
		if len(m.Requests()) == asked {
			t.Errorf("%s: no model was asked", tc.reason)
		}
	}
}

// TestI9Handoff: a new session takes over with what is pinned and a summary by
// the full model; the old one stays, and what the summary stands for can be
// rolled back to.
func TestI9Handoff(t *testing.T) {
	m := writes("the store is done, the tests are next")
	c := newCompactor(t, kagewasm.Options{Model: m, Policy: kagewasm.Policy{
		Strategy: kagewasm.StrategyCheckpoint, Summarize: kagewasm.SummarizePolicy{Model: "full", FastModel: "fast"}}})
	s := open(t, c, longWindow, chat(100))
	next, r, err := s.Handoff(t.Context(), kagewasm.SessionOptions{Session: abi.Session{ID: "s2"}}, "go on with the tests")
	if err != nil {
		t.Fatal(err)
	}
	list := next.Messages()
	if len(list) != 3 || ids(list[:2]) != "sys goal" || !strings.Contains(list[2].Text(), "the tests are next") || r.Report.Strategy != "summarize" {
		t.Errorf("it begins with %s, by %s: %v", ids(list), r.Report.Strategy, r.Report.Failures)
	}
	if asked := m.Requests()[0]; asked.Model != "full" || !strings.Contains(asked.Messages[0].Content, "go on with the tests") {
		t.Errorf("%q was asked", asked.Model)
	}
	if ids(s.Messages()) != ids(chat(100)) || len(s.Compactions()) != 0 {
		t.Error("the old session changed")
	}
	if d, err := c.Dispatch(t.Context(), next, said("x", nil)); err != nil || d.Results[0].Report.Window != longWindow || d.Results[0].Report.Model != "test" {
		t.Errorf("it has another agent, model or window: %v", err)
	}
	if err := next.Rollback(t.Context(), "last"); err != nil || !reflect.DeepEqual(next.Messages(), chat(100)) {
		t.Errorf("what was said before cannot be had back: %v", err)
	}
	journal := new(kagewasm.MemoryJournal)
	to := kagewasm.SessionOptions{Session: abi.Session{ID: "s3"}, Journal: journal}
	if _, _, err := s.Handoff(t.Context(), to, ""); err != nil {
		t.Error(err)
	}
	if _, _, err := s.Handoff(t.Context(), to, ""); abi.CodeOf(err) != abi.CodeUsage {
		t.Errorf("to a session that has messages: %v", err)
	}
	floor := newCompactor(t, kagewasm.Options{Model: modeltest.Script(modeltest.Answer{None: true})})
	next, r, err = open(t, floor, longWindow, chat(100)).Handoff(t.Context(), kagewasm.SessionOptions{Session: abi.Session{ID: "s2"}}, "")
	if err != nil || len(next.Messages()) != 3 || r.Report.Strategy != "drop" || !strings.Contains(next.Messages()[2].Text(), "pkg/step99/run.go") {
		t.Errorf("where the model fails: %s, %v: %s", r.Report.Strategy, err, r.Report.Summary)
	}
}

// TestA9A10InTheSession: history is read in as many parts as configured, each
// with the summary so far; where an answer is no good the whole sequence runs
// again with less of the tool results.
func TestA9A10InTheSession(t *testing.T) {
	var parts, sizes []string
	m := modeltest.ScriptFunc(func(r modeltest.Request) modeltest.Answer {
		text := r.Messages[0].Content
		for k := range 3 {
			if mark := fmt.Sprintf("part %d of 3", k+1); strings.Contains(text, mark) {
				parts = append(parts, fmt.Sprintf("%d:%v", k+1, strings.Contains(text, fmt.Sprintf("so far, %d", k))))
			}
		}
		sizes = append(sizes, fmt.Sprint(strings.Count(text, "out")))
		if len(parts) == 2 {
			return modeltest.Answer{None: true} // the second part of the first try
		}
		return modeltest.Answer{Text: inForm(r, "so far, "+parts[len(parts)-1][:1])}
	})
	msgs := long()
	for i := range msgs {
		if msgs[i].Role == abi.RoleTool {
			msgs[i].Content = abi.Text(strings.Repeat("out ", 60)) // 240 characters
		}
	}
	policy := kagewasm.Policy{Summarize: kagewasm.SummarizePolicy{Chunks: 3, Serial: true}, LedgerTokens: -1, MessageTokens: -1}
	r := compact(t, newCompactor(t, kagewasm.Options{Model: m, Policy: policy}), request(3*longWindow, msgs))
	if got := strings.Join(parts, " "); got != "1:false 2:true 1:false 2:true 3:true" || r.Report.Strategy != "summarize" {
		t.Errorf("asked for parts %s, by %s, %v", got, r.Report.Strategy, r.Report.Failures)
	}
	if len(sizes) > 2 && sizes[0] <= sizes[2] {
		t.Errorf("A10: the second try was given as much of the results: %v", sizes)
	}
}

// TestComplaint4SmallSummarizer: a summarizer whose window is a fraction of the
// session's is never asked for more than it takes.
func TestComplaint4SmallSummarizer(t *testing.T) {
	const small = 3000
	asked := 0
	m := modelWith(func(_ context.Context, r abi.ModelRequest) (abi.ModelResponse, error) {
		asked++
		if n := (wordCounter{}).Text(r.System+" "+r.Prompt) + r.MaxTokens; n > small {
			t.Errorf("a request of %d tokens for a window of %d", n, small)
		}
		return abi.ModelResponse{Text: inForm(modeltest.Request{ModelRequest: r}, "all is well"), StopReason: abi.StopEnd}, nil
	})
	lookup := func(string) tokens.Model { return tokens.Model{ContextWindow: ptr(small)} }
	r := compact(t, newCompactor(t, kagewasm.Options{Model: m, Lookup: lookup}), request(longWindow, long())).Report
	if r.Strategy != "summarize" || asked < 2 || r.TokensAfter > r.Target {
		t.Errorf("%d requests, by %s, %v", asked, r.Strategy, r.Failures)
	}
}

// TestComplaint17NothingWaits: while a model writes a summary in the background
// the agent goes on, messages arrive, and none is lost when it is taken.
func TestComplaint17NothingWaits(t *testing.T) {
	entered, release := make(chan struct{}, 2), make(chan struct{})
	m := modeltest.ScriptFunc(func(r modeltest.Request) modeltest.Answer {
		entered <- struct{}{}
		<-release
		return modeltest.Answer{Text: inForm(r, "all is well")}
	})
	c := newCompactor(t, kagewasm.Options{Model: m, Policy: kagewasm.Policy{Background: true}})
	s := open(t, c, 9000, long()) // over the idle threshold, under the upper one
	if _, _, err := s.EndOfTurn(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-entered
	if err := s.Append(t.Context(), abi.Message{ID: "arrived", Role: abi.RoleUser, Content: abi.Text("And the docs.")}); err != nil {
		t.Fatal(err)
	}
	if d, err := c.Dispatch(t.Context(), s, said("x", nil)); err != nil || d.Results[0].Report.Compacted {
		t.Fatalf("the agent waited: %v", err)
	}
	close(release)
	<-s.Background().Done()
	r, _, err := s.Background().Poll()
	if err != nil || r.Report.Strategy != "summarize" {
		t.Fatalf("%+v, %v", r, err)
	}
	now := s.Messages()
	if got := ids(now[len(now)-3:]); got != "last arrived x" || !has(now, r.Report.Inserted[0]) {
		t.Errorf("it ends with %s", got)
	}
}

// TestComplaint10Undo: three compactions, by a model, a plugin and drop, are
// undone one after the other, and each time every message is back as it was.
func TestComplaint10Undo(t *testing.T) {
	strategies := []*kagewasm.Overrides{{Strategy: "summarize"}, {Strategy: "delegate"}, {Strategy: "drop", Summarize: ptr(false)}}
	c := newCompactor(t, kagewasm.Options{Model: writes("all is well")})
	s := open(t, c, longWindow, nil)
	var before [][]abi.Message
	for k, o := range strategies {
		if err := s.Append(t.Context(), renamed(long(), fmt.Sprint("k", k))...); err != nil {
			t.Fatal(err)
		}
		before = append(before, slices.Clone(s.Messages()))
		if r, err := s.Compact(t.Context(), kagewasm.Request{Overrides: o}); err != nil || !r.Report.Compacted {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	for k := len(strategies) - 1; k >= 0; k-- {
		if err := s.Rollback(t.Context(), fmt.Sprintf("k%dlast", k)); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(s.Messages(), before[k]) || len(s.Compactions()) != k {
			t.Errorf("compaction %d is not undone", k)
		}
	}
}
