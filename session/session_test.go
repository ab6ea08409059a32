package session_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/models"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/strategies"
)

// TestNothingIsGiven: what a host forgot to give is an error of its, and no crash.
func TestNothingIsGiven(t *testing.T) {
	s := open(t, newCompactor(t, kagewasm.Options{}), 400, chat(60))
	for name, call := range map[string]func() error{
		"no call":       func() error { _, err := s.Dispatch(t.Context(), nil); return err },
		"no compactor":  func() error { _, err := session.Open(t.Context(), nil, session.Options{}); return err },
		"no compaction": func() error { _, err := session.Swap(nil, nil, nil); return err },
	} {
		t.Run(name, func(t *testing.T) {
			if err := call(); abi.CodeOf(err) != abi.CodeUsage {
				t.Errorf("%v", err)
			}
		})
	}
	if d, err := s.Dispatch(t.Context(), said("x", new([][]abi.Message))); err != nil || d.Calls != 1 {
		t.Errorf("afterwards: %+v, %v", d, err)
	}
}

// open is a session in a window of so many words, with messages in it.
func open(t *testing.T, c *kagewasm.Compactor, window int, msgs []abi.Message) *session.Session {
	t.Helper()
	s, err := session.Open(t.Context(), c, session.Options{
		Session: abi.Session{ID: "s1", Model: "test", ContextWindow: &window}, TooLong: models.TooLong})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Append(t.Context(), msgs...); err != nil {
		t.Fatal(err)
	}
	return s
}

// said is a call that answers with one message, and notes what it was given.
func said(id string, given *[][]abi.Message) session.Call {
	return func(_ context.Context, msgs []abi.Message) ([]abi.Message, error) {
		if given != nil {
			*given = append(*given, msgs)
		}
		return []abi.Message{{ID: id, Role: abi.RoleAssistant, Content: abi.Text("Done with " + id + ".")}}, nil
	}
}

// TestManualNeedsAnIdleSession, and fails at once while a turn runs.
func TestManualNeedsAnIdleSession(t *testing.T) {
	features.Proves(t, "T3")
	c := newCompactor(t, kagewasm.Options{})
	s := open(t, c, 10_000, chat(60))
	_, err := s.Dispatch(t.Context(), func(ctx context.Context, msgs []abi.Message) ([]abi.Message, error) {
		if _, err := s.Compact(ctx, kagewasm.Request{}); abi.CodeOf(err) != abi.CodeBusy {
			t.Errorf("during a call: %v", err)
		}
		return said("x", nil)(ctx, msgs)
	})
	if err != nil {
		t.Fatal(err)
	}
	end := s.BeginTurn()
	if _, err := s.Compact(t.Context(), kagewasm.Request{}); abi.CodeOf(err) != abi.CodeBusy {
		t.Errorf("between two calls of a turn: %v", err)
	}
	end()
	end() // twice is once
	r, err := s.Compact(t.Context(), kagewasm.Request{Instructions: "keep the port"})
	if err != nil || !r.Report.Compacted || r.Record.Trigger != abi.TriggerManual {
		t.Error(err)
	}
}

// TestEndOfTurn: a threshold that is crossed in a turn, and compactions
// that are asked for in it, are seen to when it has ended, all in one.
func TestEndOfTurn(t *testing.T) {
	features.Proves(t, "T1", "T2")
	c := newCompactor(t, kagewasm.Options{})
	s := open(t, c, 400, chat(60))
	if _, r, err := s.EndOfTurn(t.Context()); err != nil || r == nil || !r.Report.Compacted ||
		r.Record.Trigger != abi.TriggerThreshold {
		t.Errorf("over the threshold: %+v, %v", r, err)
	}
	if _, r, err := s.EndOfTurn(t.Context()); err != nil || r != nil {
		t.Errorf("nothing to do: %+v, %v", r, err)
	}
	p := &fakePlugin{Name: "obs", Pre: answers(nil)}
	c = newCompactor(t, kagewasm.Options{Plugins: plugins(p)})
	s = open(t, c, 10_000, chat(60))
	s.Request(hooks.Wish{Instructions: "keep the port"})
	s.Request(hooks.Wish{Instructions: "and the host"})
	if len(p.Asked) > 0 {
		t.Error("it ran during the turn")
	}
	_, r, err := s.EndOfTurn(t.Context())
	if err != nil || r == nil || r.Record.Trigger != abi.TriggerAgent {
		t.Fatalf("%+v, %v", r, err)
	}
	if calls := p.Calls(abi.HookPreCompact); len(calls) != 1 ||
		calls[0].Trigger.Instructions != "keep the port\nand the host" {
		t.Errorf("%d calls, instructions %q", len(calls), calls[0].Trigger.Instructions)
	}
	if _, r, _ := s.EndOfTurn(t.Context()); r != nil {
		t.Error("a request was answered twice")
	}
}

// TestRollback: what a compaction superseded comes back byte for byte, and
// only that; rolling back is itself undone by rolling back.
func TestRollback(t *testing.T) {
	features.Proves(t, "K11")
	c := newCompactor(t, kagewasm.Options{})
	s := open(t, c, 400, nil)
	all := chat(60)
	for _, m := range all[:100] { // each an entry of its own
		if err := s.Append(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	first, err := s.Compact(t.Context(), kagewasm.Request{})
	if err != nil {
		t.Fatal(err)
	}
	afterFirst := s.Messages()
	if err := s.Append(t.Context(), all[100:]...); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Compact(t.Context(), kagewasm.Request{}); err != nil {
		t.Fatal(err)
	}
	if n := len(s.Compactions()); n != 2 {
		t.Fatalf("%d compactions", n)
	}
	beforeRollback := s.Messages()
	if err := s.RollbackTo(t.Context(), 101); err != nil { // 100 messages, one compaction
		t.Fatal(err)
	}
	if !reflect.DeepEqual(s.Messages(), afterFirst) {
		t.Error("past the second compaction: not what stood there")
	}
	if list := s.Compactions(); len(list) != 1 || list[0].ID != first.Record.ID {
		t.Errorf("compactions in force: %v", list)
	}
	if err := s.Rollback(t.Context(), all[99].ID); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(s.Messages(), all[:100]) {
		t.Error("past the first compaction: the originals are not back as they were")
	}
	for _, m := range s.All() {
		if m.Superseded != (m.By != "") || m.Superseded == has(all[:100], m.ID) {
			t.Errorf("%s: superseded %v by %q", m.ID, m.Superseded, m.By)
		}
	}
	if err := s.RollbackTo(t.Context(), 103); err != nil { // before the two rollbacks
		t.Fatal(err)
	}
	if !reflect.DeepEqual(s.Messages(), beforeRollback) {
		t.Error("a rollback rolled back: not what stood there")
	}
	if err := s.Rollback(t.Context(), "nobody"); abi.CodeOf(err) != abi.CodeUsage {
		t.Errorf("an unknown message: %v", err)
	}
}

// TestTheModelSeesLess: the operator sees every message, in order, and what
// became of it; the model only the compacted list.
func TestTheModelSeesLess(t *testing.T) {
	features.Proves(t, "K12")
	c := newCompactor(t, kagewasm.Options{})
	s := open(t, c, 400, chat(60))
	r, err := s.Compact(t.Context(), kagewasm.Request{})
	if err != nil {
		t.Fatal(err)
	}
	var shown, gone []string
	for _, m := range s.All() {
		if m.Superseded {
			gone = append(gone, m.ID)
			if m.By != r.Record.ID {
				t.Errorf("%s was superseded by %q", m.ID, m.By)
			}
			continue
		}
		shown = append(shown, m.ID)
	}
	if fmt.Sprint(gone) != fmt.Sprint(r.Report.Superseded) || fmt.Sprintf("[%s]", ids(s.Messages())) != fmt.Sprint(shown) {
		t.Errorf("shown %v, gone %v", shown, gone)
	}
	if len(s.All()) != len(chat(60))+len(r.Report.Inserted) {
		t.Error("a message is missing")
	}
}

// TestSessionsAreKept: a session that is opened again is as it was left; of two
// that write to one journal each has what the other wrote, and nothing is written twice.
func TestSessionsAreKept(t *testing.T) {
	c := newCompactor(t, kagewasm.Options{})
	opts := session.Options{Session: abi.Session{ID: "s1", ContextWindow: new(400)}, Journal: new(session.MemoryJournal)}
	s, err := session.Open(t.Context(), c, opts)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Append(t.Context(), chat(60)...); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Compact(t.Context(), kagewasm.Request{}); err != nil {
		t.Fatal(err)
	}
	again, err := session.Open(t.Context(), c, opts)
	if err != nil || !reflect.DeepEqual(again.Messages(), s.Messages()) || !reflect.DeepEqual(again.All(), s.All()) {
		t.Errorf("opened again it is another one: %v", err)
	}
	if err := s.Append(t.Context(), abi.Message{ID: "n1", Role: abi.RoleUser, Content: abi.Text("Hello.")}); err != nil {
		t.Fatal(err)
	}
	h, err := session.OpenHistory(t.Context(), opts.Journal, "s1", nil)
	if err != nil {
		t.Fatal(err)
	}
	n2 := abi.Message{ID: "n2", Role: abi.RoleUser, Content: abi.Text("Hello.")}
	if err := again.Append(t.Context(), n2); err != nil || !has(again.Messages(), "n1") || !has(again.Messages(), "n2") {
		t.Errorf("behind what another wrote: %v: %s", err, ids(again.Messages()))
	}
	n2.ID = "n3"
	if err := h.Append(t.Context(), n2); abi.CodeOf(err) != abi.CodeConflict || !reflect.DeepEqual(h.Messages(),
		again.Messages()) {
		t.Errorf("two wrote the same entry: %v", err)
	}
	sub := opts
	sub.Session.AgentPath = "main/reviewer"
	if other, err := session.Open(t.Context(), c, sub); err != nil || len(other.Messages()) > 0 {
		t.Errorf("K5: agents share a list: %v", err)
	}
	gone := s.All()[2].ID
	for why, id := range map[string]string{"one that is there": "last", "a superseded one's": gone} {
		t.Run(why, func(t *testing.T) {
			if err := s.Append(t.Context(), abi.Message{ID: id, Role: abi.RoleUser}); abi.CodeOf(err) != abi.CodeUsage {
				t.Error(err)
			}
		})
	}
	if _, err := session.Open(t.Context(), c, session.Options{}); abi.CodeOf(err) != abi.CodeUsage {
		t.Errorf("a session without an id: %v", err)
	}
	err = s.Append(t.Context(), abi.Message{ID: "n3", Role: "usr", Content: abi.Text("Hello.")})
	if e := abi.AsError(err); e.Code != abi.CodeUsage || !strings.Contains(e.Message, `role "usr": use system, user`) {
		t.Errorf("a role that is none: %v", err)
	}
}

// TestMessagesWithoutIDs: a message that a host gives no id gets one of the session's,
// other than all there ever were, and keeps it when the session is opened again.
func TestMessagesWithoutIDs(t *testing.T) {
	opts := session.Options{Session: abi.Session{ID: "s1"}, Journal: new(session.MemoryJournal)}
	c := newCompactor(t, kagewasm.Options{})
	s, err := session.Open(t.Context(), c, opts)
	if err != nil {
		t.Fatal(err)
	}
	hello := abi.Message{Role: abi.RoleUser, Content: abi.Text("Hello.")}
	for range 2 {
		if err := s.Append(t.Context(), hello, abi.Message{Role: abi.RoleAssistant, Content: abi.Text("Hello."), ID: "own"},
			hello); err != nil && abi.CodeOf(err) != abi.CodeUsage { // "own" is there the second time
			t.Fatal(err)
		}
		if err := s.Append(t.Context(), hello); err != nil {
			t.Fatal(err)
		}
	}
	seen := make(map[string]bool)
	for _, m := range s.Messages() {
		if m.ID == "" || seen[m.ID] {
			t.Errorf("id %q", m.ID)
		}
		seen[m.ID] = true
	}
	if again, err := session.Open(t.Context(), c, opts); err != nil || len(seen) != 5 ||
		!reflect.DeepEqual(again.Messages(), s.Messages()) {
		t.Errorf("%d messages: opened again they are others: %v", len(seen), err)
	}
}

// TestNamesOfWhatWasPruned: tool output that an earlier look shortened is
// read as it came when a compaction writes its note, whether the message goes
// or stays.
func TestNamesOfWhatWasPruned(t *testing.T) {
	features.Proves(t, "N8")
	msgs := chat(60)
	for i := range msgs {
		if msgs[i].ID == "t1" {
			msgs[i].Content = abi.Text("ReserveNextParcel holds tokenBucketLock" + strings.Repeat(" and more output", 20))
		}
	}
	c := newCompactor(t, kagewasm.Options{Policy: kagewasm.Policy{Note: strategies.NoteConfig{Tokens: 200},
		Prune: strategies.PruneConfig{ProtectTokens: 1, MinimumSavings: 1}}})
	s := open(t, c, 2_000, msgs[:40])
	d, err := s.Dispatch(t.Context(), said("x", nil))
	if err != nil || d.Results[0].Report.Compacted || d.Results[0].Report.Pruned.Count == 0 {
		t.Fatalf("nothing was shortened: %+v, %v", d.Results[0].Report.Pruned, err)
	}
	if err := s.Append(t.Context(), msgs[40:]...); err != nil {
		t.Fatal(err)
	}
	r, err := s.Compact(t.Context(), kagewasm.Request{})
	if err != nil || !strings.Contains(r.Report.Summary, "tokenBucketLock") {
		t.Errorf("what was shortened is lost: %q, %v", r.Report.Summary, err)
	}
}

// TestAResultOnItsWay: a person speaks while a tool runs, and the
// session is compacted; the call stays, or its result would stand alone for good.
func TestAResultOnItsWay(t *testing.T) {
	features.Proves(t, "complaint 2")
	c := newCompactor(t, kagewasm.Options{})
	msgs := append(chat(60), abi.Message{ID: "call", Role: abi.RoleAssistant,
		ToolCalls: []abi.ToolCall{{ID: "slow", Name: "build"}}},
		abi.Message{ID: "meanwhile", Role: abi.RoleUser, Content: abi.Text("Are you still there?")})
	target := 0
	for what, with := range map[string]kagewasm.Request{"no target": {}, "no room": {Target: &target}} {
		t.Run(what, func(t *testing.T) {
			s := open(t, c, 400, msgs)
			if _, err := s.Compact(t.Context(), with); err != nil {
				t.Fatal(err)
			}
			if err := s.Append(t.Context(), abi.Message{ID: "result", Role: abi.RoleTool, ToolCallID: "slow",
				Content: abi.Text("built")}); err != nil {
				t.Fatal(err)
			}
			if calls, results := abi.Orphans(s.Messages()); len(calls)+len(results) > 0 {
				t.Errorf("target %v: orphans %v %v", with.Target, calls, results)
			}
		})
	}
}

// TestPinsOfPluginsLastInASession: what a plugin pinned once stays through the
// compactions that follow, until a rollback undoes the one that pinned it or a
// person takes it back.
func TestPinsOfPluginsLastInASession(t *testing.T) {
	features.Proves(t, "K10", "K11")
	calls := 0
	rules := &fakePlugin{Name: "rules", Pre: func(*abi.Input) (*abi.Output, error) {
		if calls++; calls == 1 {
			return &abi.Output{AlwaysKeep: []string{"t30"}}, nil
		}
		return nil, nil
	}}
	s := open(t, newCompactor(t, kagewasm.Options{Plugins: plugins(rules)}), 500, chat(60))
	compacts := func(with kagewasm.Request) {
		t.Helper()
		if r, err := s.Compact(t.Context(), with); err != nil || !r.Report.Compacted {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	for n := range 5 {
		compacts(kagewasm.Request{})
		if !has(s.Messages(), "t30") {
			t.Fatalf("gone with compaction %d", n+1)
		}
		if err := s.Append(t.Context(), renamed(chat(60)[2:], fmt.Sprintf("n%d-", n))...); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Rollback(t.Context(), "last"); err != nil {
		t.Fatal(err)
	}
	if compacts(kagewasm.Request{}); has(s.Messages(), "t30") {
		t.Error("the compaction that pinned it was undone, and it is pinned")
	}

	calls = 0
	s = open(t, newCompactor(t, kagewasm.Options{Plugins: plugins(rules)}), 500, chat(60))
	compacts(kagewasm.Request{})
	if compacts(kagewasm.Request{Release: []string{"t30"}}); has(s.Messages(), "t30") {
		t.Error("a person took it back, and it is there")
	}
}
