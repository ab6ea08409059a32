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
