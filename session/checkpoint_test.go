package session_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies"
)

// TestCheckpoint: the plan waits, the session pauses, and what is approved
// is what was shown, to the byte.
func TestCheckpoint(t *testing.T) {
	features.Proves(t, "K29")
	p := &fakePlugin{Name: "obs", Pre: answers(nil), Post: answers(nil)}
	c := newCompactor(t, kagewasm.Options{Policy: kagewasm.Policy{Strategy: kagewasm.StrategyCheckpoint},
		Plugins: plugins(p)})
	s := open(t, c, 400, chat(60))
	d, err := s.Dispatch(t.Context(), said("x", nil))
	if abi.CodeOf(err) != abi.CodeBusy || d.Calls != 0 || d.Results[0].Report.ReasonCode != abi.ReasonPending {
		t.Fatalf("%+v, %v", d, err)
	}
	cp := s.Pending()
	if cp == nil || cp.Reason != "compaction_pending" || !cp.Report.Compacted || len(s.Compactions()) > 0 ||
		ids(s.Messages()) != ids(chat(60)) {
		t.Fatalf("checkpoint %+v", cp)
	}
	if len(p.Calls(abi.HookPostCompact)) > 0 {
		t.Error("post_compact before anything was done")
	}
	if _, err := s.Dispatch(t.Context(), said("x", nil)); abi.CodeOf(err) != abi.CodeBusy {
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
	if want := append(cp.Messages[:len(cp.Messages):len(cp.Messages)], arrived); !reflect.DeepEqual(s.Messages(),
		want) || !reflect.DeepEqual(r.Messages, want) {
		t.Error("not what was shown, with what arrived behind it")
	}
	if s.Pending() != nil || len(s.Compactions()) != 1 || len(p.Calls(abi.HookPostCompact)) != 1 {
		t.Error("an approved checkpoint leaves traces, or none where it should")
	}
}

// TestRejectedIsTold: "the after hook fires whichever path was taken": plugins that heard of a compaction hear that it
// was rejected, with a record of a session that is as it was, and that it was dropped as the session is another one.
// What they answer is in the result, and one event has it.
func TestRejectedIsTold(t *testing.T) {
	features.Proves(t, "O7", "K29")
	p := &fakePlugin{Name: "hears", Post: answers(&abi.Output{Retain: []string{"it was left"}})}
	var last kagewasm.Event
	c := newCompactor(t, kagewasm.Options{Policy: kagewasm.Policy{Strategy: kagewasm.StrategyCheckpoint},
		Plugins: plugins(p), Audit: func(e kagewasm.Event) { last = e }})
	s := open(t, c, 1450, chat(60))
	heard := func(id string) {
		t.Helper()
		calls := p.Calls(abi.HookPostCompact)
		if len(calls) == 0 {
			t.Fatal("nobody heard of it")
		}
		r := calls[len(calls)-1].Record
		if r.ID != id || r.Success || r.ReasonCode != abi.ReasonRejected || len(r.Superseded)+len(r.Inserted) > 0 ||
			r.TokensAfter != r.TokensBefore {
			t.Errorf("record %+v", r)
		}
		if last.Type != kagewasm.EventFailed || last.Compaction != id || len(last.Report.Retained) != 1 {
			t.Errorf("event %+v", last)
		}
	}
	_, _ = s.Dispatch(t.Context(), said("x", nil))
	id := s.Pending().ID
	r, err := s.Reject(t.Context(), id, "not now")
	if err != nil || ids(r.Messages) != ids(chat(60)) || len(r.Report.Retained) != 1 || r.Report.Compacted {
		t.Fatalf("%+v, %v", r, err)
	}
	heard(id)
	if err := s.Append(t.Context(), renamed(chat(10)[2:], "more")...); err != nil {
		t.Fatal(err)
	}
	_, _ = s.Dispatch(t.Context(), said("y", nil))
	id = s.Pending().ID
	if err := s.RollbackTo(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	heard(id)
}

// TestRejected: the session goes on as it is, and is not asked again at once.
func TestRejected(t *testing.T) {
	features.Proves(t, "K29")
	var events []kagewasm.EventType
	c := newCompactor(t, kagewasm.Options{Policy: kagewasm.Policy{Strategy: kagewasm.StrategyCheckpoint},
		Audit: func(e kagewasm.Event) { events = append(events, e.Type) }})
	s := open(t, c, 1450, chat(60))
	_, _ = s.Dispatch(t.Context(), said("x", nil))
	if _, err := s.Reject(t.Context(), s.Pending().ID, "not now"); err != nil {
		t.Fatal(err)
	}
	if d, err := s.Dispatch(t.Context(), said("x", nil)); err != nil || d.Calls != 1 ||
		ids(d.Results[0].Messages) != ids(chat(60)) {
		t.Errorf("%+v, %v", d, err)
	}
	if fmt.Sprint(events) != "[compaction.triggered compaction.failed]" {
		t.Errorf("events %v", events)
	}
	if err := s.Append(t.Context(), renamed(chat(10)[2:], "more")...); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Dispatch(t.Context(), said("y", nil)); abi.CodeOf(err) != abi.CodeBusy {
		t.Errorf("it has grown, and is not asked about again: %v", err)
	}
}

// TestRejectedOverTheWindow: a session that does not fit is not asked about again either before something changed: the
// look after a rejection goes on, and the one after more messages asks. A person who asks by hand is asked at once.
func TestRejectedOverTheWindow(t *testing.T) {
	features.Proves(t, "K29")
	c := newCompactor(t, kagewasm.Options{Policy: kagewasm.Policy{Strategy: kagewasm.StrategyCheckpoint}})
	s := open(t, c, 700, chat(60))
	reject := func() {
		t.Helper()
		if s.Pending() == nil {
			t.Fatal("nothing waits")
		}
		if _, err := s.Reject(t.Context(), s.Pending().ID, "not now"); err != nil {
			t.Fatal(err)
		}
	}
	_, _ = s.Dispatch(t.Context(), said("x", nil))
	reject()
	d, err := s.Dispatch(t.Context(), func(context.Context, []abi.Message) ([]abi.Message, error) { return nil, nil })
	if err != nil || s.Pending() != nil || len(d.Results) == 0 {
		t.Fatalf("nothing changed, and it is asked again: %+v, %v", d, err)
	}
	if r := d.Results[0].Report; r.ReasonCode != abi.ReasonRejected || !strings.Contains(r.Reason, "rejected") ||
		!strings.Contains(r.Warning, "do not fit") {
		t.Errorf("%s: %s, %v", r.ReasonCode, r.Reason, r.Warning)
	}
	if _, err := s.Compact(t.Context(), kagewasm.Request{}); err != nil {
		t.Fatal(err)
	}
	reject()
	if err := s.Append(t.Context(), renamed(chat(3)[2:], "more")...); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Dispatch(t.Context(), said("y", nil)); abi.CodeOf(err) != abi.CodeBusy {
		t.Errorf("a message arrived, and it is not asked about again: %v", err)
	}
}

// TestWithPruning: what waits for the operator includes the shortening of
// old output; until it is approved the session is as it was, and then it is as
// was shown.
func TestWithPruning(t *testing.T) {
	features.Proves(t, "K29")
	c := newCompactor(t, kagewasm.Options{Policy: kagewasm.Policy{Strategy: kagewasm.StrategyCheckpoint,
		Prune: strategies.PruneConfig{ProtectTokens: 1, MinimumSavings: 1}}})
	s := open(t, c, 400, chat(60))
	before := s.Messages()
	if _, err := s.Dispatch(t.Context(), said("x", nil)); abi.CodeOf(err) != abi.CodeBusy {
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
