package session_test

import (
	"context"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/hosttest"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/tokens"
)

// TestUsedCorrectsTheEstimate: what the provider counted of a request corrects the estimate of
// the next one, once; of a request that was rolled back since it says nothing.
func TestUsedCorrectsTheEstimate(t *testing.T) {
	c := hosttest.New(t, kagewasm.Options{Lookup: func(string) tokens.Model { return tokens.Model{TokenScale: 1.2} }})
	s, err := session.Open(t.Context(), c, session.Options{Overhead: 50_000,
		Session: abi.Session{ID: "s", Model: "m", ContextWindow: new(1_000_000)}})
	if err != nil {
		t.Fatal(err)
	}
	var last *session.Dispatched
	call := func() *kagewasm.Scale {
		t.Helper()
		if err := s.Append(t.Context(), abi.Message{Role: abi.RoleUser, Content: abi.Text("go on")}); err != nil {
			t.Fatal(err)
		}
		d, err := s.Dispatch(t.Context(), func(context.Context, []abi.Message) ([]abi.Message, error) {
			return []abi.Message{{Role: abi.RoleAssistant, Content: abi.Text("done")}}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		last = d
		return d.Results[0].Report.Scale
	}
	if sc := call(); sc == nil || sc.Factor != 1.2 || sc.Calls != 0 {
		t.Fatalf("before anything was reported: %+v", sc)
	}
	last.Used(75_000)
	sc := call()
	if sc == nil || sc.Calls != 1 || sc.Factor < 1.49 || sc.Factor > 1.5 {
		t.Errorf("after 75,000 for some 50,000: %+v", sc)
	}
	if again := call(); again == nil || again.Calls != 1 {
		t.Errorf("one report counted twice: %+v", again)
	}
	first := s.Messages()[0].ID
	last.Used(75_000)
	if err := s.Rollback(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	if again := call(); again == nil || again.Calls != 1 {
		t.Errorf("a report of what was rolled back counted: %+v", again)
	}
}
