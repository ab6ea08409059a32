package session_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/modeltest"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/strategies"
)

// TestTriggers: the agent asks with its tool and gets it when the turn is
// over, the threshold starts one before a call, a person at once; the record
// says which it was.
func TestTriggers(t *testing.T) {
	features.Proves(t, "I5")
	c := newCompactor(t, kagewasm.Options{})
	s := open(t, c, 100_000, chat(60))
	end := s.BeginTurn()
	if _, ok, err := (session.Tools{}).Answer(s, "compact", `{"focus":"the store"}`); !ok || err != nil {
		t.Fatalf("%v, %v", ok, err)
	}
	if len(s.Compactions()) > 0 {
		t.Error("the agent's compaction ran inside its turn")
	}
	end()
	if _, r, err := s.EndOfTurn(t.Context()); err != nil || r == nil || !r.Report.Compacted ||
		r.Record.Trigger != abi.TriggerAgent {
		t.Errorf("the agent: %+v, %v", r, err)
	}
	s = open(t, c, 1000, chat(60))
	if d, err := s.Dispatch(t.Context(), said("x", nil)); err != nil ||
		d.Results[0].Record.Trigger != abi.TriggerThreshold {
		t.Errorf("the threshold: %v", err)
	}
	s = open(t, c, 100_000, chat(60))
	if r, err := s.Compact(t.Context(), kagewasm.Request{}); err != nil || r.Record.Trigger != abi.TriggerManual {
		t.Errorf("a person: %v", err)
	}
}

// TestHandoff: a new session takes over with what is pinned and a summary by
// the full model; the old one stays, and what the summary stands for can be
// rolled back to.
func TestHandoff(t *testing.T) {
	features.Proves(t, "I9")
	m := writes("the store is done, the tests are next")
	c := newCompactor(t, kagewasm.Options{Model: m, Policy: kagewasm.Policy{
		Strategy: kagewasm.StrategyCheckpoint, Summarize: strategies.SummarizeConfig{Model: "full", FastModel: "fast"}}})
	s := open(t, c, longWindow, chat(100))
	next, r, err := s.Handoff(t.Context(), session.Options{Session: abi.Session{ID: "s2"}}, "go on with the tests")
	if err != nil {
		t.Fatal(err)
	}
	list := next.Messages()
	if len(list) != 3 || ids(list[:2]) != "sys goal" || !strings.Contains(list[2].Text(), "the tests are next") ||
		r.Report.Strategy != "summarize" {
		t.Errorf("it begins with %s, by %s: %v", ids(list), r.Report.Strategy, r.Report.Failures)
	}
	if asked := m.Requests()[0]; asked.Model != "full" || !strings.Contains(asked.Messages[0].Content,
		"go on with the tests") {
		t.Errorf("%q was asked", asked.Model)
	}
	if ids(s.Messages()) != ids(chat(100)) || len(s.Compactions()) != 0 {
		t.Error("the old session changed")
	}
	if d, err := next.Dispatch(t.Context(), said("x", nil)); err != nil || d.Results[0].Report.Window != longWindow ||
		d.Results[0].Report.Model != "test" {
		t.Errorf("it has another agent, model or window: %v", err)
	}
	if err := next.Rollback(t.Context(), "last"); err != nil || !reflect.DeepEqual(next.Messages(), chat(100)) {
		t.Errorf("what was said before cannot be had back: %v", err)
	}
	journal := new(session.MemoryJournal)
	to := session.Options{Session: abi.Session{ID: "s3"}, Journal: journal}
	if _, _, err := s.Handoff(t.Context(), to, ""); err != nil {
		t.Error(err)
	}
	if _, _, err := s.Handoff(t.Context(), to, ""); abi.CodeOf(err) != abi.CodeUsage {
		t.Errorf("to a session that has messages: %v", err)
	}
	floor := newCompactor(t, kagewasm.Options{Model: modeltest.Script(modeltest.Answer{None: true})})
	next, r, err = open(t, floor, longWindow, chat(100)).Handoff(t.Context(),
		session.Options{Session: abi.Session{ID: "s2"}}, "")
	if err != nil || len(next.Messages()) != 3 || r.Report.Strategy != "drop" ||
		!strings.Contains(next.Messages()[2].Text(), "step99/run.go") {
		t.Errorf("where the model fails: %s, %v: %s", r.Report.Strategy, err, r.Report.Summary)
	}
}

// TestNothingWaits: while a model writes a summary in the background
// the agent goes on, messages arrive, and none is lost when it is taken.
func TestNothingWaits(t *testing.T) {
	features.Proves(t, "complaint 17")
	entered, release := make(chan struct{}, 2), make(chan struct{})
	m := modeltest.ScriptFunc(func(r modeltest.Request) modeltest.Answer {
		entered <- struct{}{}
		<-release
		return modeltest.Answer{Text: inForm(r, "all is well")}
	})
	c := newCompactor(t, kagewasm.Options{Model: m, Policy: kagewasm.Policy{When: kagewasm.When{Background: true}}})
	s := open(t, c, 9000, long()) // over the idle threshold, under the upper one
	if _, _, err := s.EndOfTurn(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-entered
	if err := s.Append(t.Context(), abi.Message{ID: "arrived", Role: abi.RoleUser,
		Content: abi.Text("And the docs.")}); err != nil {
		t.Fatal(err)
	}
	if d, err := s.Dispatch(t.Context(), said("x", nil)); err != nil || d.Results[0].Report.Compacted {
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

// TestUndo: three compactions, by a model, a plugin and drop, are
// undone one after the other, and each time every message is back as it was.
func TestUndo(t *testing.T) {
	features.Proves(t, "complaint 10")
	strategies := []*kagewasm.Overrides{{Strategy: "summarize"}, {Strategy: "delegate"},
		{Strategy: "drop", Summarize: new(false)}}
	c := newCompactor(t, kagewasm.Options{Model: writes("all is well")})
	s := open(t, c, longWindow, nil)
	var before [][]abi.Message
	for k, o := range strategies {
		t.Run(o.Strategy, func(t *testing.T) {
			if err := s.Append(t.Context(), renamed(long(), fmt.Sprint("k", k))...); err != nil {
				t.Fatal(err)
			}
			before = append(before, slices.Clone(s.Messages()))
			if r, err := s.Compact(t.Context(), kagewasm.Request{Overrides: o}); err != nil || !r.Report.Compacted {
				t.Fatalf("%+v, %v", r, err)
			}
		})
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

// TestAgentsOfASession: each agent has its own window, list, compactions and
// events.
func TestAgentsOfASession(t *testing.T) {
	features.Proves(t, "K5")
	var mu sync.Mutex
	events := make(map[string]int)
	c := newCompactor(t, kagewasm.Options{Audit: func(e kagewasm.Event) {
		mu.Lock()
		defer mu.Unlock()
		events[e.Session.AgentPath]++
	}})
	journal := new(session.MemoryJournal)
	agent := func(path string, window int) *session.Session {
		s, err := session.Open(t.Context(), c, session.Options{Session: abi.Session{ID: "s1", AgentPath: path,
			ContextWindow: &window}, Journal: journal})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Append(t.Context(), long()...); err != nil {
			t.Fatal(err)
		}
		return s
	}
	small, large := agent("main/reviewer", longWindow), agent("main", 1_000_000)
	for _, s := range []*session.Session{small, large} {
		if _, err := s.Dispatch(t.Context(), said("x", nil)); err != nil {
			t.Fatal(err)
		}
	}
	if len(small.Compactions()) != 1 || len(large.Compactions()) != 0 || len(large.Messages()) != len(long())+1 ||
		events["main/reviewer"] != 2 || events["main"] != 0 {
		t.Errorf("%d and %d compactions, events %v", len(small.Compactions()), len(large.Compactions()), events)
	}
}

// TestCannotBlock: a plugin that asks for compactions, and tries to run one,
// from inside a compaction and from inside the end of a turn does not wait for
// itself; what it asked for runs afterwards.
func TestCannotBlock(t *testing.T) {
	features.Proves(t, "O4")
	var s *session.Session
	var codes []abi.Code
	meddle := func(*abi.Input) (*abi.Output, error) {
		s.Request(hooks.Wish{Instructions: "from inside"})
		_, err := s.Compact(t.Context(), kagewasm.Request{})
		codes = append(codes, abi.CodeOf(err))
		return nil, nil
	}
	c := newCompactor(t, kagewasm.Options{Plugins: plugins(&fakePlugin{Name: "obs", Pre: meddle, Post: meddle})})
	s = open(t, c, 1000, chat(60))
	if _, err := s.Dispatch(t.Context(), said("x", nil)); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(codes) != fmt.Sprintf("[%s %[1]s]", abi.CodeBusy) || len(s.Compactions()) != 1 {
		t.Errorf("inside: %v, %d compactions", codes, len(s.Compactions()))
	}
	if _, r, err := s.EndOfTurn(t.Context()); err != nil || r == nil || r.Report.Hooks[0].Outcome == "" {
		t.Errorf("what was asked for did not run: %+v, %v", r, err)
	}
}

// TestSwitchedOff: neither the threshold nor the end of a turn starts one, and
// a person still does.
func TestSwitchedOff(t *testing.T) {
	features.Proves(t, "T1")
	c := newCompactor(t, kagewasm.Options{Policy: kagewasm.Policy{Disabled: true}})
	s := open(t, c, longWindow, long())
	if d, err := s.Dispatch(t.Context(), said("x", nil)); err != nil || d.Results[0].Report.Compacted {
		t.Errorf("before a call: %v", err)
	}
	if _, r, err := s.EndOfTurn(t.Context()); err != nil || r != nil {
		t.Errorf("after a turn: %v", err)
	}
	if r, err := s.Compact(t.Context(), kagewasm.Request{}); err != nil || !r.Report.Compacted {
		t.Errorf("asked for: %v", err)
	}
}
