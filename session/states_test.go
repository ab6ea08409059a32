package session_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/modeltest"
	"github.com/kagewasm/kagewasm/session"
)

type ctxJournal struct{ session.MemoryJournal }

func (j *ctxJournal) Append(ctx context.Context, s string, e session.Entry) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return j.MemoryJournal.Append(ctx, s, e)
}

func chat2() []abi.Message {
	var out []abi.Message
	for _, m := range chat(20)[2:] {
		m.ID = "n" + m.ID
		out = append(out, m)
	}
	return out
}

// TestHeldIsNotPinned: a call that waits for its result is held, and not reported as pinned.
func TestHeldIsNotPinned(t *testing.T) {
	features.Proves(t, "K10")
	c := newCompactor(t, kagewasm.Options{})
	msgs := chat(60)
	msgs = append(msgs, abi.Message{ID: "open", Role: abi.RoleAssistant,
		ToolCalls: []abi.ToolCall{{ID: "q1", Name: "run"}, {ID: "q2", Name: "run"}}},
		abi.Message{ID: "u2", Role: abi.RoleUser, Content: abi.Text("hurry")})
	s := open(t, c, 600, msgs)
	r, err := s.Compact(t.Context(), kagewasm.Request{})
	t.Log(r.Report.Pinned, err)
	for _, id := range r.Report.Pinned {
		if id == "open" {
			t.Error("reported as pinned")
		}
	}
}

// TestAnswersAreKept: an answer that came is stored, also where the caller gave up behind it.
func TestAnswersAreKept(t *testing.T) {
	features.Proves(t, "K3")
	c := newCompactor(t, kagewasm.Options{})
	s, err := session.Open(t.Context(), c, session.Options{Session: abi.Session{ID: "s", ContextWindow: new(10000)},
		Journal: &ctxJournal{}})
	if err != nil {
		t.Fatal(err)
	}
	s.Append(t.Context(), chat(2)...)
	ctx, cancel := context.WithCancel(t.Context())
	d, err := s.Dispatch(ctx, func(ctx context.Context, _ []abi.Message) ([]abi.Message, error) {
		defer cancel()
		return []abi.Message{{ID: "paid", Role: abi.RoleAssistant, Content: abi.Text("a paid answer")}}, nil
	})
	t.Log(len(d.Messages), err)
	if !has(s.Messages(), "paid") {
		t.Error("an answer that was paid for is not in the session")
	}
}

// postCompact facts of pre hooks lost in Approve's report

// TestApprovedReport: what plugins retained is in the report of what was approved.
func TestApprovedReport(t *testing.T) {
	features.Proves(t, "K29")
	p := &fakePlugin{Name: "obs", Pre: answers(&abi.Output{Retain: []string{"fact"}}), Post: answers(nil)}
	c := newCompactor(t, kagewasm.Options{Policy: kagewasm.Policy{Strategy: "checkpoint"}, Plugins: plugins(p),
		Memory: memory{}})
	s := open(t, c, 400, chat(60))
	s.Dispatch(t.Context(), said("x", nil))
	cp := s.Pending()
	r, err := s.Approve(t.Context(), cp.ID)
	t.Log(len(cp.Report.Retained), len(r.Report.Retained), err)
	if len(r.Report.Retained) != len(cp.Report.Retained) {
		t.Error("what was retained is gone from the report")
	}
	s.Append(t.Context(), abi.Message{ID: "more", Role: abi.RoleUser, Content: abi.Text(strings.Repeat("word ", 100))})
}

// two looks at once make two checkpoints

// TestOneCheckpoint: a checkpoint that an operator reads is not replaced.
func TestOneCheckpoint(t *testing.T) {
	features.Proves(t, "K29")
	gate, in := make(chan struct{}), make(chan struct{}, 2)
	n := 0
	var mu sync.Mutex
	p := &fakePlugin{Name: "obs", Pre: func(*abi.Input) (*abi.Output, error) {
		mu.Lock()
		n++
		k := n
		mu.Unlock()
		in <- struct{}{}
		if k == 1 {
			<-gate
		}
		return nil, nil
	}}
	c := newCompactor(t, kagewasm.Options{Policy: kagewasm.Policy{Strategy: "checkpoint",
		When: kagewasm.When{Background: true}},
		Plugins: plugins(p)})
	s := open(t, c, 400, chat(60))
	s.EndOfTurn(t.Context())
	<-in
	s.Append(t.Context(), chat2()...)
	_, err := s.Dispatch(t.Context(), said("x", nil))
	first := s.Pending()
	close(gate)
	<-s.Background().Done()
	second := s.Pending()
	t.Log(err, first.ID, second.ID)
	if first.ID != second.ID {
		_, err := s.Approve(t.Context(), first.ID)
		t.Error("the checkpoint that the operator is looking at was replaced:", err)
	}
}

// TestRollbackInFlight: an answer to what was taken back is not added.
func TestRollbackInFlight(t *testing.T) {
	features.Proves(t, "K11")
	c := newCompactor(t, kagewasm.Options{})
	s := open(t, c, 10000, chat(2))
	s.Append(t.Context(), abi.Message{ID: "q2", Role: abi.RoleUser, Content: abi.Text("Delete everything.")})
	_, err := s.Dispatch(t.Context(), func(ctx context.Context, msgs []abi.Message) ([]abi.Message, error) {
		if err := s.Rollback(ctx, "last"); err != nil {
			t.Fatal(err)
		}
		return []abi.Message{{ID: "ans", Role: abi.RoleAssistant,
			ToolCalls: []abi.ToolCall{{ID: "k", Name: "rm", Arguments: "{}"}}}}, nil
	})
	t.Log(err, ids(s.Messages()))
	if err == nil && has(s.Messages(), "ans") && !has(s.Messages(), "q2") {
		t.Error("the answer to a question that was taken back is in the session")
	}
}

// TestOpenBrokenJournal: there is no session beside an error.
func TestOpenBrokenJournal(t *testing.T) {
	c := newCompactor(t, kagewasm.Options{})
	j := &session.MemoryJournal{}
	j.Append(t.Context(), "s1", session.Entry{Seq: 1, Rewrite: &session.Rewrite{Order: []string{"gone"}}})
	s, err := session.Open(t.Context(), c, session.Options{Session: abi.Session{ID: "s1"}, Journal: j})
	t.Log(s != nil, err)
	if s != nil && err != nil {
		t.Error("a session that panics")
	}
}

// TestRollbackEndsACheckpoint: a checkpoint that a rollback drops has an event
// that says so. Who hears of it may ask the session for its messages.
func TestRollbackEndsACheckpoint(t *testing.T) {
	features.Proves(t, "K15")
	var events []kagewasm.Event
	var s *session.Session
	c := newCompactor(t, kagewasm.Options{Policy: kagewasm.Policy{Strategy: "checkpoint"},
		Audit: func(e kagewasm.Event) {
			events = append(events, e)
			s.Messages()
		}})
	s = open(t, c, 400, chat(60))
	s.Dispatch(t.Context(), said("x", nil))
	s.Rollback(t.Context(), "last")
	if len(events) != 2 || events[1].Type != kagewasm.EventFailed {
		t.Errorf("triggered, and never ended: %+v", events)
	}
}

// TestAskedForWhileAJobRuns: what is asked for while a job is at work is answered by the next one.
func TestAskedForWhileAJobRuns(t *testing.T) {
	features.Proves(t, "I5", "T2")
	const wish = "keep the store in view"
	entered, release := make(chan struct{}, 9), make(chan struct{})
	m := modeltest.ScriptFunc(func(r modeltest.Request) modeltest.Answer {
		entered <- struct{}{}
		<-release
		return modeltest.Answer{Text: inForm(r, "all is well")}
	})
	c := newCompactor(t, kagewasm.Options{Policy: kagewasm.Policy{When: kagewasm.When{Background: true}}, Model: m})
	s := open(t, c, longWindow, long())
	endTurn := func() *session.Job {
		t.Helper()
		if _, _, err := s.EndOfTurn(t.Context()); err != nil {
			t.Fatal(err)
		}
		return s.Background()
	}
	first := endTurn()
	<-entered // it is at work for certain
	s.Request(hooks.Wish{Instructions: wish})
	if endTurn() != first {
		t.Fatal("another job beside the one that runs")
	}
	close(release)
	<-first.Done()
	if r, _, err := first.Poll(); err != nil || r.Report.Strategy != kagewasm.StrategySummarize {
		t.Fatalf("the first job did not use its model: %+v, %v", r, err)
	}
	second := endTurn()
	<-second.Done()
	r, _, err := second.Poll()
	if err != nil || !r.Report.Compacted || r.Record.Trigger != abi.TriggerAgent {
		t.Fatalf("the request is lost: %+v, %v", r, err)
	}
	for _, asked := range m.Requests() {
		if strings.Contains(asked.Messages[0].Content, wish) {
			return
		}
	}
	t.Error("the model was not told what was asked for")
}

// TestAskedForWhileACheckpointWaits: what is asked for while a checkpoint waits is answered after it.
func TestAskedForWhileACheckpointWaits(t *testing.T) {
	features.Proves(t, "I5", "T2")
	c := newCompactor(t, kagewasm.Options{Policy: kagewasm.Policy{Strategy: "checkpoint"}})
	s := open(t, c, 600, chat(60))
	_, r, err := s.EndOfTurn(t.Context())
	if err != nil || s.Pending() == nil {
		t.Fatal(r, err)
	}
	s.Request(hooks.Wish{Instructions: "x"})
	_, _, err = s.EndOfTurn(t.Context())
	t.Log(err)
	if _, err := s.Approve(t.Context(), s.Pending().ID); err != nil {
		t.Fatal(err)
	}
	_, r, err = s.EndOfTurn(t.Context())
	if r == nil && s.Pending() == nil {
		t.Error("request lost", err)
	}
}

// TestRejectedIsNotForEver: a session that does not fit any more is not sent for a rejected checkpoint.
func TestRejectedIsNotForEver(t *testing.T) {
	features.Proves(t, "K29")
	c := newCompactor(t, kagewasm.Options{Policy: kagewasm.Policy{Strategy: "checkpoint"}})
	msgs := chat(60)
	total := 0
	for i := range msgs {
		total += wordCounter{}.Message(&msgs[i])
	}
	window := total + total/100
	s := open(t, c, window, msgs)
	s.Dispatch(t.Context(), said("x", nil))
	cp := s.Pending()
	if cp == nil {
		t.Fatal("none")
	}
	if _, err := s.Reject(t.Context(), cp.ID, "no"); err != nil {
		t.Fatal(err)
	}
	s.Append(t.Context(), abi.Message{ID: "big", Role: abi.RoleUser, Content: abi.Text(strings.Repeat("word ", total/40))})
	d, err := s.Dispatch(t.Context(), said("y", nil))
	if len(d.Results) > 0 {
		r := d.Results[0].Report
		t.Logf("%d in window %d: %s %q err %v, calls %d", r.TokensAfter, r.Window, r.ReasonCode, r.Reason, err, d.Calls)
		if d.Calls > 0 && r.TokensAfter > r.Window {
			t.Error("sent a request over the window")
		}
	}
}

// TestQuietEnds: a compaction that was done ends the quiet that a rejection began.
func TestQuietEnds(t *testing.T) {
	features.Proves(t, "K29")
	live := kagewasm.Policy{Strategy: "checkpoint"}
	c := newCompactor(t, kagewasm.Options{Live: func(abi.Session) kagewasm.Policy { return live }})
	msgs := chat(60)
	total := 0
	for i := range msgs {
		total += wordCounter{}.Message(&msgs[i])
	}
	s := open(t, c, total*100/88, msgs)
	s.Dispatch(t.Context(), said("x", nil))
	if _, err := s.Reject(t.Context(), s.Pending().ID, "no"); err != nil {
		t.Fatal(err)
	}
	live.Strategy = "drop"
	r, err := s.Compact(t.Context(), kagewasm.Request{})
	if err != nil || !r.Report.Compacted {
		t.Fatal(r.Report.Reason, err)
	}
	// grow to 90 %
	w := r.Report.Window
	s.Append(t.Context(), abi.Message{ID: "b1", Role: abi.RoleAssistant,
		Content: abi.Text(strings.Repeat("word ", w*89/100-r.Report.TokensAfter))},
		abi.Message{ID: "b2", Role: abi.RoleUser, Content: abi.Text("go")})
	d, err := s.Dispatch(t.Context(), said("z", nil))
	t.Log(d.Results[0].Report.Reason, err)
	if !d.Results[0].Report.Compacted {
		t.Error("still quiet")
	}
}
