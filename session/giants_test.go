package session_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/session"
)

// giantTask is a session whose first message no window holds.
func giantTask() []abi.Message {
	msgs := chat(20)
	msgs[1].Content = abi.Text("Why does this fail?\n" + strings.Repeat("a line of a log\n", 500) +
		"the worker saw ErrTooManyCooks here\n" + strings.Repeat("a line of a log\n", 500) + "Leave the database alone.")
	return msgs
}

// TestGiantTask: a session whose first message is too long for the window goes on. What
// is left out of the message is found by recall, and comes back with a rollback.
func TestGiantTask(t *testing.T) {
	features.Proves(t, "K10", "A11")
	s := open(t, newCompactor(t, kagewasm.Options{}), 1000, giantTask())
	var given [][]abi.Message
	d, err := s.Dispatch(t.Context(), said("x", &given))
	if err != nil || d.Calls != 1 {
		t.Fatalf("%d calls, %v", d.Calls, err)
	}
	if task := given[0][1].Text(); strings.Contains(task, "ErrTooManyCooks") || !strings.Contains(task, "database alone") {
		t.Errorf("the model was given %q", task)
	}
	found := session.Recall(s.All(), session.RecallQuery{Text: "ErrTooManyCooks"})
	if len(found) != 1 || found[0].Pieces[0].Message != "goal" ||
		!strings.Contains(found[0].Pieces[0].Text, "ErrTooManyCooks") {
		t.Errorf("recalled %+v", found)
	}
	if err := s.RollbackTo(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if got, want := s.Messages()[1].Text(), giantTask()[1].Text(); got != want {
		t.Errorf("a rollback brings back %d bytes of %d", len(got), len(want))
	}
	if found := session.Recall(s.All(), session.RecallQuery{Text: "ErrTooManyCooks"}); len(found) > 0 {
		t.Error("what the model sees whole is recalled")
	}
}

// TestRefusedGiantTask: where the provider refuses the request and says no figures, the
// first message is cut though the window that is assumed would hold it.
func TestRefusedGiantTask(t *testing.T) {
	features.Proves(t, "K10", "A11")
	s := open(t, newCompactor(t, kagewasm.Options{}), 100_000, giantTask())
	d, err := s.Dispatch(t.Context(), func(_ context.Context, msgs []abi.Message) ([]abi.Message, error) {
		if n := len(msgs[1].Text()); n > 12_000 {
			return nil, errors.New("prompt is too long")
		}
		return []abi.Message{{ID: "x", Role: abi.RoleAssistant, Content: abi.Text("Done.")}}, nil
	})
	if err != nil || d.Calls != 2 {
		t.Fatalf("%d calls, %v", d.Calls, err)
	}
}

// TestGiantAnswer: of an answer that left no room beginning and end are given to the model. What is left out
// is recalled, and a rollback brings it back.
func TestGiantAnswer(t *testing.T) {
	features.Proves(t, "K4", "A11")
	msgs := chat(20)
	long := strings.Repeat("a line of an answer\n", 500) + "the worker saw ErrTooManyCooks here\n" +
		strings.Repeat("a line of an answer\n", 500)
	msgs = append(msgs[:12:12], append([]abi.Message{{ID: "long", Role: abi.RoleAssistant, Content: abi.Text(long)}},
		msgs[12:]...)...)
	s := open(t, newCompactor(t, kagewasm.Options{}), 3000, msgs)
	var given [][]abi.Message
	if _, err := s.Dispatch(t.Context(), said("x", &given)); err != nil {
		t.Fatal(err)
	}
	if got := given[0][12]; got.ID != "long" || len(got.Text()) > len(long)/2 || strings.Contains(got.Text(), "Cooks") {
		t.Fatalf("the model was given %d bytes of %s", len(got.Text()), got.ID)
	}
	found := session.Recall(s.All(), session.RecallQuery{Text: "ErrTooManyCooks"})
	if len(found) != 1 || found[0].Pieces[0].Message != "long" {
		t.Errorf("recalled %+v", found)
	}
	if err := s.RollbackTo(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if got := s.Messages()[12].Text(); got != long {
		t.Errorf("a rollback brings back %d bytes of %d", len(got), len(long))
	}
}
