package kagewasm_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/strategies"
)

// open is a session in a window of so many words, with messages in it.
func open(t *testing.T, c *kagewasm.Compactor, window int, msgs []abi.Message) *kagewasm.Session {
	t.Helper()
	s, err := c.Open(t.Context(), kagewasm.SessionOptions{Session: abi.Session{ID: "s1", Model: "test", ContextWindow: &window}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Append(t.Context(), msgs...); err != nil {
		t.Fatal(err)
	}
	return s
}

// said is a call that answers with one message, and notes what it was given.
func said(id string, given *[][]abi.Message) kagewasm.Call {
	return func(_ context.Context, msgs []abi.Message) ([]abi.Message, error) {
		if given != nil {
			*given = append(*given, msgs)
		}
		return []abi.Message{{ID: id, Role: abi.RoleAssistant, Content: abi.Text("Done with " + id + ".")}}, nil
	}
}

// TestK1K2TheHostOwnsIt: a session is compacted before the call, at the one
// place where the list is made, and the report says so; below the threshold the
// model is given every message as it came.
func TestK1K2TheHostOwnsIt(t *testing.T) {
	c := newCompactor(t, kagewasm.Options{})
	var given [][]abi.Message
	s := open(t, c, 10_000, chat(60))
	d, err := c.Dispatch(t.Context(), s, said("x1", &given))
	if err != nil || d.Calls != 1 || d.Results[0].Report.ReasonCode != abi.ReasonBelowThreshold {
		t.Fatalf("%+v, %v", d, err)
	}
	if !reflect.DeepEqual(given[0], chat(60)) {
		t.Error("the model was not given the session as it came")
	}
	s = open(t, c, 400, chat(60))
	d, err = c.Dispatch(t.Context(), s, said("x1", &given))
	if err != nil || !d.Results[0].Report.Compacted {
		t.Fatalf("%+v, %v", d, err)
	}
	if ids(given[1]) != ids(d.Results[0].Messages) || !has(s.Messages(), "x1") {
		t.Error("the model was given something else than the report says")
	}
}

// TestK3ReactiveRetry: a request that is refused as too long is compacted and
// sent once more, not twice; errors are never stored.
func TestK3ReactiveRetry(t *testing.T) {
	tooLong := errors.New("This model's maximum context length is 300 tokens. However, your messages resulted in 900 tokens.")
	c := newCompactor(t, kagewasm.Options{})
	t.Run("once more", func(t *testing.T) {
		s := open(t, c, 10_000, chat(60))
		n := 0
		d, err := c.Dispatch(t.Context(), s, func(ctx context.Context, msgs []abi.Message) ([]abi.Message, error) {
			if n++; n == 1 {
				return []abi.Message{{ID: "never", Role: abi.RoleAssistant, Content: abi.Text("half an answer")}}, tooLong
			}
			return said("x", nil)(ctx, msgs)
		})
		if err != nil || d.Calls != 2 || len(d.Results) != 2 {
			t.Fatalf("%+v, %v", d, err)
		}
		r := d.Results[1].Report
		if !r.Compacted || d.Results[1].Record.Trigger != abi.TriggerOverflow {
			t.Errorf("reason %s, trigger %s", r.Reason, d.Results[1].Record.Trigger)
		}
		if r.TokensAfter > 300*r.TokensBefore/900 {
			t.Errorf("%d of %d tokens, where the provider takes a third", r.TokensAfter, r.TokensBefore)
		}
		for _, m := range s.All() {
			if m.ID == "never" {
				t.Error("what came with the error was stored")
			}
		}
		// The next look knows what the provider said.
		if d, err = c.Dispatch(t.Context(), s, said("y", nil)); err != nil || d.Results[0].Report.Window >= 10_000 {
			t.Errorf("window %d, %v", d.Results[0].Report.Window, err)
		}
	})
	t.Run("not twice", func(t *testing.T) {
		s := open(t, c, 10_000, chat(60))
		d, err := c.Dispatch(t.Context(), s, func(context.Context, []abi.Message) ([]abi.Message, error) { return nil, tooLong })
		if !errors.Is(err, tooLong) || d.Calls != 2 {
			t.Errorf("%d calls, %v", d.Calls, err)
		}
	})
	t.Run("not where nothing changed", func(t *testing.T) {
		s := open(t, c, 10_000, chat(0))
		before := s.Messages()
		d, err := c.Dispatch(t.Context(), s, func(context.Context, []abi.Message) ([]abi.Message, error) { return nil, tooLong })
		if !errors.Is(err, tooLong) || d.Calls != 1 {
			t.Errorf("%d calls, %v", d.Calls, err)
		}
		if !reflect.DeepEqual(s.Messages(), before) {
			t.Error("the session changed")
		}
	})
	t.Run("figures of something else are not learned from", func(t *testing.T) {
		s := open(t, c, 10_000, chat(60))
		other := errors.New("prompt is too long: 210000 tokens > 200000 maximum")
		for range 5 {
			_, _ = c.Dispatch(t.Context(), s, func(context.Context, []abi.Message) ([]abi.Message, error) { return nil, other })
		}
		if d, err := c.Dispatch(t.Context(), s, said("x", nil)); err != nil || d.Results[0].Report.Window != 10_000 {
			t.Errorf("window %d, %v", d.Results[0].Report.Window, err)
		}
	})
	t.Run("other errors are the caller's", func(t *testing.T) {
		s := open(t, c, 10_000, chat(60))
		other := errors.New("rate limit reached: tokens per minute")
		if d, err := c.Dispatch(t.Context(), s, func(context.Context, []abi.Message) ([]abi.Message, error) { return nil, other }); !errors.Is(err, other) || d.Calls != 1 {
			t.Errorf("%+v, %v", d, err)
		}
	})
}

// TestA11Recovery: without anybody to compact, a refused request is an error
// at once that says so; what cannot be made to fit is not sent at all.
func TestA11Recovery(t *testing.T) {
	tooLong := errors.New("prompt is too long: 210000 tokens > 200000 maximum")
	c := newCompactor(t, kagewasm.Options{Policy: kagewasm.Policy{NoFloor: true}})
	s := open(t, c, 10_000, chat(60))
	d, err := c.Dispatch(t.Context(), s, func(context.Context, []abi.Message) ([]abi.Message, error) { return nil, tooLong })
	if abi.CodeOf(err) != abi.CodeNoCompactor || abi.AsError(err).Hint == "" || d.Calls != 1 {
		t.Errorf("%d calls, %v", d.Calls, err)
	}
	c = newCompactor(t, kagewasm.Options{})
	s = open(t, c, 5, chat(3))
	d, err = c.Dispatch(t.Context(), s, said("x", nil))
	if abi.CodeOf(err) != abi.CodeExceedsWindow || d.Calls != 0 || d.Results[0].Report.Warning == "" {
		t.Errorf("%d calls, warning %q, %v", d.Calls, d.Results[0].Report.Warning, err)
	}
}

// TestA8PruneOnly: where nobody can compact there is no hook and no error.
func TestA8PruneOnly(t *testing.T) {
	p := &fakePlugin{name: "obs", pre: answers(nil), post: answers(nil)}
	c := newCompactor(t, kagewasm.Options{Policy: kagewasm.Policy{NoFloor: true}, Plugins: plugins(p)})
	r, err := c.Compact(t.Context(), request(400, chat(60)))
	if err != nil || r.Report.ReasonCode != abi.ReasonPruneOnly || r.Report.Compacted || len(p.asked) > 0 {
		t.Errorf("%s, %d calls of the plugin, %v", r.Report.ReasonCode, len(p.asked), err)
	}
}

// TestK8OneCallAtATime: a call waits for the one in flight.
func TestK8OneCallAtATime(t *testing.T) {
	c := newCompactor(t, kagewasm.Options{})
	s := open(t, c, 10_000, chat(3))
	started, release := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	var seen []string
	wg.Go(func() {
		_, _ = c.Dispatch(t.Context(), s, func(ctx context.Context, msgs []abi.Message) ([]abi.Message, error) {
			close(started)
			<-release
			seen = append(seen, "first")
			return said("first", nil)(ctx, msgs)
		})
	})
	<-started
	wg.Go(func() {
		_, err := c.Dispatch(t.Context(), s, func(ctx context.Context, msgs []abi.Message) ([]abi.Message, error) {
			seen = append(seen, "second")
			if !has(msgs, "first") {
				t.Error("the second call was not given the answer of the first")
			}
			return said("second", nil)(ctx, msgs)
		})
		if err != nil {
			t.Error(err)
		}
	})
	gaveUp, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := c.Dispatch(gaveUp, s, said("third", nil)); abi.CodeOf(err) != abi.CodeCanceled {
		t.Errorf("whoever gives up waiting: %v", err)
	}
	close(release)
	wg.Wait()
	if !reflect.DeepEqual(seen, []string{"first", "second"}) {
		t.Errorf("called %v", seen)
	}
}

// TestT3ManualNeedsAnIdleSession, and fails at once while a turn runs.
func TestT3ManualNeedsAnIdleSession(t *testing.T) {
	c := newCompactor(t, kagewasm.Options{})
	s := open(t, c, 10_000, chat(60))
	_, err := c.Dispatch(t.Context(), s, func(ctx context.Context, msgs []abi.Message) ([]abi.Message, error) {
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
		t.Errorf("%v", err)
	}
}

// TestT1T2EndOfTurn: a threshold that is crossed in a turn, and compactions
// that are asked for in it, are seen to when it has ended, all in one.
func TestT1T2EndOfTurn(t *testing.T) {
	c := newCompactor(t, kagewasm.Options{})
	s := open(t, c, 400, chat(60))
	if _, r, err := s.EndOfTurn(t.Context()); err != nil || r == nil || !r.Report.Compacted || r.Record.Trigger != abi.TriggerThreshold {
		t.Errorf("over the threshold: %+v, %v", r, err)
	}
	if _, r, err := s.EndOfTurn(t.Context()); err != nil || r != nil {
		t.Errorf("nothing to do: %+v, %v", r, err)
	}
	p := &fakePlugin{name: "obs", pre: answers(nil)}
	c = newCompactor(t, kagewasm.Options{Plugins: plugins(p)})
	s = open(t, c, 10_000, chat(60))
	s.Request("keep the port")
	s.Request("and the host")
	if len(p.asked) > 0 {
		t.Error("it ran during the turn")
	}
	_, r, err := s.EndOfTurn(t.Context())
	if err != nil || r == nil || r.Record.Trigger != abi.TriggerPlugin {
		t.Fatalf("%+v, %v", r, err)
	}
	if calls := p.calls(abi.HookPreCompact); len(calls) != 1 || calls[0].Trigger.Instructions != "keep the port\nand the host" {
		t.Errorf("%d calls, instructions %q", len(calls), calls[0].Trigger.Instructions)
	}
	if _, r, _ := s.EndOfTurn(t.Context()); r != nil {
		t.Error("a request was answered twice")
	}
}

// TestK11Rollback: what a compaction superseded comes back byte for byte, and
// only that; rolling back is itself undone by rolling back.
func TestK11Rollback(t *testing.T) {
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

// TestK12TheModelSeesLess: the operator sees every message, in order, and what
// became of it; the model only the compacted list.
func TestK12TheModelSeesLess(t *testing.T) {
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

// TestSessionsAreKept: a session that is opened again is as it was left; two
// that write to one journal cannot both win.
func TestSessionsAreKept(t *testing.T) {
	c := newCompactor(t, kagewasm.Options{})
	opts := kagewasm.SessionOptions{Session: abi.Session{ID: "s1", ContextWindow: ptr(400)}, Journal: new(kagewasm.MemoryJournal)}
	s, err := c.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Append(t.Context(), chat(60)...); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Compact(t.Context(), kagewasm.Request{}); err != nil {
		t.Fatal(err)
	}
	again, err := c.Open(t.Context(), opts)
	if err != nil || !reflect.DeepEqual(again.Messages(), s.Messages()) || !reflect.DeepEqual(again.All(), s.All()) {
		t.Errorf("opened again it is another one: %v", err)
	}
	if err := s.Append(t.Context(), abi.Message{ID: "n1", Role: abi.RoleUser, Content: abi.Text("Hello.")}); err != nil {
		t.Fatal(err)
	}
	if err := again.Append(t.Context(), abi.Message{ID: "n2", Role: abi.RoleUser, Content: abi.Text("Hello.")}); abi.CodeOf(err) != abi.CodeConflict {
		t.Errorf("two wrote the same entry: %v", err)
	}
	sub := opts
	sub.Session.AgentPath = "main/reviewer"
	if other, err := c.Open(t.Context(), sub); err != nil || len(other.Messages()) > 0 {
		t.Errorf("K5: agents share a list: %v", err)
	}
	gone := s.All()[2].ID
	for why, id := range map[string]string{"none": "", "one that is there": "last", "a superseded one's": gone} {
		if err := s.Append(t.Context(), abi.Message{ID: id, Role: abi.RoleUser}); abi.CodeOf(err) != abi.CodeUsage {
			t.Errorf("a message whose id is %s: %v", why, err)
		}
	}
	if _, err := c.Open(t.Context(), kagewasm.SessionOptions{}); abi.CodeOf(err) != abi.CodeUsage {
		t.Errorf("a session without an id: %v", err)
	}
}

// TestK29Checkpoint: the plan waits, the session pauses, and what is approved
// is what was shown, to the byte.
func TestK29Checkpoint(t *testing.T) {
	p := &fakePlugin{name: "obs", pre: answers(nil), post: answers(nil)}
	c := newCompactor(t, kagewasm.Options{Policy: kagewasm.Policy{Strategy: kagewasm.StrategyCheckpoint}, Plugins: plugins(p)})
	s := open(t, c, 400, chat(60))
	d, err := c.Dispatch(t.Context(), s, said("x", nil))
	if abi.CodeOf(err) != abi.CodeBusy || d.Calls != 0 || d.Results[0].Report.ReasonCode != abi.ReasonPending {
		t.Fatalf("%+v, %v", d, err)
	}
	cp := s.Pending()
	if cp == nil || cp.Reason != "compaction_pending" || !cp.Report.Compacted || len(s.Compactions()) > 0 || ids(s.Messages()) != ids(chat(60)) {
		t.Fatalf("checkpoint %+v", cp)
	}
	if len(p.calls(abi.HookPostCompact)) > 0 {
		t.Error("post_compact before anything was done")
	}
	if _, err := c.Dispatch(t.Context(), s, said("x", nil)); abi.CodeOf(err) != abi.CodeBusy {
		t.Errorf("the session goes on: %v", err)
	}
	arrived := abi.Message{ID: "arrived", Role: abi.RoleUser, Content: abi.Text("By the way.")}
	if err := s.Append(t.Context(), arrived); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Approve(t.Context(), "another"); abi.CodeOf(err) != abi.CodeUsage {
		t.Errorf("an unknown checkpoint: %v", err)
	}
	r, err := s.Approve(t.Context(), cp.ID)
	if err != nil {
		t.Fatal(err)
	}
	if want := append(cp.Messages[:len(cp.Messages):len(cp.Messages)], arrived); !reflect.DeepEqual(s.Messages(), want) || !reflect.DeepEqual(r.Messages, want) {
		t.Error("not what was shown, with what arrived behind it")
	}
	if s.Pending() != nil || len(s.Compactions()) != 1 || len(p.calls(abi.HookPostCompact)) != 1 {
		t.Error("an approved checkpoint leaves traces, or none where it should")
	}
}

// TestK29Rejected: the session goes on as it is, and is not asked again at once.
func TestK29Rejected(t *testing.T) {
	var events []kagewasm.EventType
	c := newCompactor(t, kagewasm.Options{Policy: kagewasm.Policy{Strategy: kagewasm.StrategyCheckpoint}, Audit: func(e kagewasm.Event) { events = append(events, e.Type) }})
	s := open(t, c, 1450, chat(60))
	_, _ = c.Dispatch(t.Context(), s, said("x", nil))
	if err := s.Reject(s.Pending().ID, "not now"); err != nil {
		t.Fatal(err)
	}
	if d, err := c.Dispatch(t.Context(), s, said("x", nil)); err != nil || d.Calls != 1 || ids(d.Results[0].Messages) != ids(chat(60)) {
		t.Errorf("%+v, %v", d, err)
	}
	if fmt.Sprint(events) != "[compaction.triggered compaction.failed]" {
		t.Errorf("events %v", events)
	}
	if err := s.Append(t.Context(), renamed(chat(10)[2:], "more")...); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Dispatch(t.Context(), s, said("y", nil)); abi.CodeOf(err) != abi.CodeBusy {
		t.Errorf("it has grown, and is not asked about again: %v", err)
	}
}

// TestI6Background: the compaction runs while the agent goes on, and is there
// with the next call; what arrived meanwhile stays.
func TestI6Background(t *testing.T) {
	var once sync.Once
	entered, release := make(chan struct{}), make(chan struct{})
	slow := &fakePlugin{name: "slow", pre: func(*abi.Input) (*abi.Output, error) {
		once.Do(func() { close(entered); <-release })
		return nil, nil
	}}
	c := newCompactor(t, kagewasm.Options{Policy: kagewasm.Policy{Background: true}, Plugins: plugins(slow)})
	total := compact(t, newCompactor(t, kagewasm.Options{}), request(1_000_000, chat(60))).Report.TokensBefore
	s := open(t, c, total*100/78, chat(60)) // 78%: between the idle threshold and the upper one
	if _, r, err := s.EndOfTurn(t.Context()); err != nil || r != nil {
		t.Fatalf("it did not go to the background: %+v, %v", r, err)
	}
	<-entered
	if _, done, _ := s.Background().Poll(); done {
		t.Error("done before it is")
	}
	d, err := c.Dispatch(t.Context(), s, said("x", nil))
	if err != nil || d.Results[0].Report.Compacted {
		t.Fatalf("the agent waited for it: %+v, %v", d, err)
	}
	close(release)
	<-s.Background().Done()
	r, done, err := s.Background().Poll()
	if !done || err != nil || !r.Report.Compacted || r.Record.Trigger != abi.TriggerIdle {
		t.Fatalf("%+v, %v, %v", r, done, err)
	}
	var given [][]abi.Message
	if _, err := c.Dispatch(t.Context(), s, said("y", &given)); err != nil {
		t.Fatal(err)
	}
	if !has(given[0], r.Report.Inserted[0]) || !has(given[0], "x") || has(given[0], r.Report.Superseded[0]) {
		t.Errorf("the next call was given %s", ids(given[0]))
	}
}

// TestI6SwapIsACompareAndSwap (complaint 17).
func TestI6SwapIsACompareAndSwap(t *testing.T) {
	c := newCompactor(t, kagewasm.Options{})
	base := chat(60)
	job := c.Start(t.Context(), request(400, base))
	<-job.Done()
	r, _, err := job.Poll()
	if err != nil || !r.Report.Compacted {
		t.Fatal(err)
	}
	more := abi.Message{ID: "more", Role: abi.RoleUser, Content: abi.Text("One more thing.")}
	now := append(chat(60), more)
	got, err := kagewasm.Swap(r, base, now)
	if err != nil || !reflect.DeepEqual(got, append(r.Messages[:len(r.Messages):len(r.Messages)], more)) {
		t.Errorf("what arrived is not behind it: %v", err)
	}
	edited := chat(60)
	edited[5].Content = abi.Text("something else")
	taken := append(chat(60), abi.Message{ID: r.Report.Inserted[0], Role: abi.RoleUser})
	for why, now := range map[string][]abi.Message{"shorter": base[:50], "edited": edited, "an id that is taken": taken} {
		if _, err := kagewasm.Swap(r, base, now); abi.CodeOf(err) != abi.CodeConflict {
			t.Errorf("%s: %v", why, err)
		}
	}
}

// TestSessionsUnderLoad: appends, calls, compactions in the background and by
// hand at once lose nothing.
func TestSessionsUnderLoad(t *testing.T) {
	c := newCompactor(t, kagewasm.Options{Policy: kagewasm.Policy{Background: true}})
	s := open(t, c, 2_000, chat(5))
	var wg sync.WaitGroup
	const writers, each = 4, 40
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				id := fmt.Sprintf("w%d-%d", w, i)
				var err error
				if w%2 == 0 {
					err = s.Append(t.Context(), abi.Message{ID: id, Role: abi.RoleUser, Content: abi.Text("a word of " + id + " and twenty more words so that it adds up to something that has to be compacted some day")})
				} else {
					_, err = c.Dispatch(t.Context(), s, said(id, nil))
				}
				if err != nil {
					t.Errorf("%s: %v", id, err)
				}
				if i%5 == 0 {
					_, _, err = s.EndOfTurn(t.Context())
				}
				if err != nil {
					t.Errorf("%s: end of turn: %v", id, err)
				}
			}
		})
	}
	wg.Wait()
	stored := map[string]bool{}
	for _, m := range s.All() {
		stored[m.ID] = true
	}
	for w := range writers {
		for i := range each {
			if !stored[fmt.Sprintf("w%d-%d", w, i)] {
				t.Fatalf("w%d-%d is lost", w, i)
			}
		}
	}
}

// TestI1CacheOfWhatWasSent: a compaction between two calls costs the provider's
// cache at the next call, and that is where the report says so: what the model
// was never sent is in no cache.
func TestI1CacheOfWhatWasSent(t *testing.T) {
	for _, strategy := range []string{kagewasm.StrategyDrop, kagewasm.StrategyCheckpoint} {
		c := newCompactor(t, kagewasm.Options{Policy: kagewasm.Policy{Strategy: strategy}})
		s := open(t, c, 10_000, chat(60))
		if _, err := c.Dispatch(t.Context(), s, said("x1", nil)); err != nil {
			t.Fatal(err)
		}
		r, err := s.Compact(t.Context(), kagewasm.Request{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Checkpoint != nil {
			if r, err = s.Approve(t.Context(), r.Checkpoint.ID); err != nil {
				t.Fatal(err)
			}
		}
		first := r.Report.Metrics.Cache
		d, err := c.Dispatch(t.Context(), s, said("x2", nil))
		if err != nil {
			t.Fatal(err)
		}
		if cache := d.Results[0].Report.Metrics.Cache; cache.PrefixTokens != first.PrefixTokens || cache.HitRate > 0.5 {
			t.Errorf("%s: %+v after a compaction that left %+v", strategy, cache, first)
		}
		if d, err = c.Dispatch(t.Context(), s, said("x3", nil)); err != nil || d.Results[0].Report.Metrics.Cache.HitRate < 0.9 {
			t.Errorf("%s: %+v where the list only grew, %v", strategy, d.Results[0].Report.Metrics.Cache, err)
		}
	}
}

// TestComplaint5GiantsOfTheFirstTurn: two giant results before anything could
// go are cut down where they leave no room under the target, and no session is stuck
// for that; below the threshold they stay.
func TestComplaint5GiantsOfTheFirstTurn(t *testing.T) {
	giant := abi.Text(strings.Repeat("a line of a file ", 200)) // 1,000 words
	msgs := append(chat(0)[:2], abi.Message{ID: "a", Role: abi.RoleAssistant, ToolCalls: []abi.ToolCall{{ID: "c", Name: "read"}, {ID: "d", Name: "read"}}},
		abi.Message{ID: "r", Role: abi.RoleTool, ToolCallID: "c", Content: giant}, abi.Message{ID: "q", Role: abi.RoleTool, ToolCallID: "d", Content: giant})
	for _, tc := range []struct {
		window int
		pruned int
	}{{1500, 2}, {2500, 0}} {
		c := newCompactor(t, kagewasm.Options{})
		s := open(t, c, tc.window, msgs)
		d, err := c.Dispatch(t.Context(), s, said("x", nil))
		if err != nil || d.Calls != 1 {
			t.Fatalf("window %d: %d calls, %v", tc.window, d.Calls, err)
		}
		r := d.Results[0].Report
		if r.Pruned.Count != tc.pruned || r.TokensAfter > tc.window || r.Compacted {
			t.Errorf("window %d: %d shortened, %d tokens, %s", tc.window, r.Pruned.Count, r.TokensAfter, r.Reason)
		}
	}
}

// TestK29WithPruning: what waits for the operator includes the shortening of
// old output; until it is approved the session is as it was, and then it is as
// was shown.
func TestK29WithPruning(t *testing.T) {
	c := newCompactor(t, kagewasm.Options{Policy: kagewasm.Policy{Strategy: kagewasm.StrategyCheckpoint,
		Prune: strategies.PruneConfig{ProtectTokens: 1, MinimumSavings: 1}}})
	s := open(t, c, 400, chat(60))
	before := s.Messages()
	if _, err := c.Dispatch(t.Context(), s, said("x", nil)); abi.CodeOf(err) != abi.CodeBusy {
		t.Fatal(err)
	}
	cp := s.Pending()
	if cp.Report.Pruned.Count == 0 || !reflect.DeepEqual(s.Messages(), before) {
		t.Fatalf("%d shortened, and the session changed", cp.Report.Pruned.Count)
	}
	if _, err := s.Approve(t.Context(), cp.ID); err != nil || ids(s.Messages()) != ids(cp.Messages) {
		t.Errorf("approved: %s, shown: %s, %v", ids(s.Messages()), ids(cp.Messages), err)
	}
}

// TestN8NamesOfWhatWasPruned: tool output that an earlier look shortened is
// read as it came when a compaction writes its note, whether the message goes
// or stays.
func TestN8NamesOfWhatWasPruned(t *testing.T) {
	msgs := chat(60)
	for i := range msgs {
		if msgs[i].ID == "t1" {
			msgs[i].Content = abi.Text("ReserveNextParcel holds tokenBucketLock" + strings.Repeat(" and more output", 20))
		}
	}
	c := newCompactor(t, kagewasm.Options{Policy: kagewasm.Policy{LedgerTokens: 200, Prune: strategies.PruneConfig{ProtectTokens: 1, MinimumSavings: 1}}})
	s := open(t, c, 2_000, msgs[:40])
	d, err := c.Dispatch(t.Context(), s, said("x", nil))
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

// TestN2GiantsBeforeCompactors: a compactor is given a giant result of the
// current turn cut down already, so that a list which keeps it fits.
func TestN2GiantsBeforeCompactors(t *testing.T) {
	msgs := append(chat(20), abi.Message{ID: "a", Role: abi.RoleAssistant, ToolCalls: []abi.ToolCall{{ID: "c", Name: "read"}}},
		abi.Message{ID: "r", Role: abi.RoleTool, ToolCallID: "c", Content: abi.Text(strings.Repeat("a line of a file ", 200))})
	keepsTheEnd := compactor(func(in *abi.Input) (*abi.Output, error) {
		out := &abi.Output{Summary: "Looked around."}
		for i, m := range in.Messages {
			if m.Pinned || i >= len(in.Messages)-3 {
				out.Messages = append(out.Messages, abi.OutputMessage{Ref: m.ID})
			}
		}
		return out, nil
	})
	c := newCompactor(t, kagewasm.Options{Plugins: plugins(keepsTheEnd), Policy: kagewasm.Policy{Strategy: kagewasm.StrategyDelegate}})
	s := open(t, c, 800, msgs)
	d, err := c.Dispatch(t.Context(), s, said("x", nil))
	if err != nil {
		t.Fatal(err)
	}
	r := d.Results[0].Report
	if r.TokensAfter > r.Target || r.Strategy != kagewasm.StrategyDelegate || r.Fallback || !has(s.Messages(), "r") {
		t.Errorf("%d tokens by %s, fallback %v: %v", r.TokensAfter, r.Strategy, r.Fallback, r.Failures)
	}
}

// TestComplaint2AResultOnItsWay: a person speaks while a tool runs, and the
// session is compacted; the call stays, or its result would stand alone for good.
func TestComplaint2AResultOnItsWay(t *testing.T) {
	c := newCompactor(t, kagewasm.Options{})
	msgs := append(chat(60), abi.Message{ID: "call", Role: abi.RoleAssistant, ToolCalls: []abi.ToolCall{{ID: "slow", Name: "build"}}},
		abi.Message{ID: "meanwhile", Role: abi.RoleUser, Content: abi.Text("Are you still there?")})
	target := 0
	for _, with := range []kagewasm.Request{{}, {Target: &target}} {
		s := open(t, c, 400, msgs)
		if _, err := s.Compact(t.Context(), with); err != nil {
			t.Fatal(err)
		}
		if err := s.Append(t.Context(), abi.Message{ID: "result", Role: abi.RoleTool, ToolCallID: "slow", Content: abi.Text("built")}); err != nil {
			t.Fatal(err)
		}
		if calls, results := abi.Orphans(s.Messages()); len(calls)+len(results) > 0 {
			t.Errorf("target %v: orphans %v %v", with.Target, calls, results)
		}
	}
}
