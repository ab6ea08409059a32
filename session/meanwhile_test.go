package session_test

import (
	"context"
	"errors"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/session"
)

// fullJournal takes nothing while it is full.
type fullJournal struct {
	session.MemoryJournal
	full bool
}

func (j *fullJournal) Append(ctx context.Context, s string, e session.Entry) error {
	if j.full {
		return errors.New("the disk is full")
	}
	return j.MemoryJournal.Append(ctx, s, e)
}

// two are two sessions that share a journal, as those of two processes.
func two(t *testing.T, c *kagewasm.Compactor, j session.Journal, msgs []abi.Message) (one, other *session.Session) {
	t.Helper()
	for i, s := range []**session.Session{&one, &other} {
		opened, err := session.Open(t.Context(), c, session.Options{Journal: j,
			Session: abi.Session{ID: "s", ContextWindow: new(10_000)}})
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			if err := opened.Append(t.Context(), msgs...); err != nil {
				t.Fatal(err)
			}
		}
		*s = opened
	}
	return one, other
}

// TestCompactedByAnother: an answer, and what else arrives, stands behind a compaction that another process made
// meanwhile.
func TestCompactedByAnother(t *testing.T) {
	features.Proves(t, "T3")
	one, other := two(t, newCompactor(t, kagewasm.Options{}), new(session.MemoryJournal), chat(60))
	_, err := one.Dispatch(t.Context(), func(ctx context.Context, msgs []abi.Message) ([]abi.Message, error) {
		if r, err := other.Compact(ctx, kagewasm.Request{}); err != nil || !r.Report.Compacted {
			t.Fatal(err)
		}
		return said("answer", nil)(ctx, msgs)
	})
	want := append(other.Messages(), abi.Message{ID: "answer"})
	if got := one.Messages(); err != nil || ids(got) != ids(want) || len(one.Compactions()) != 1 {
		t.Errorf("%v: %s, want %s", err, ids(got), ids(want))
	}
	more := abi.Message{ID: "more", Role: abi.RoleUser, Content: abi.Text("Go on.")}
	if err := other.Append(t.Context(), more); err != nil || !has(other.Messages(), "answer") {
		t.Errorf("%v: %s", err, ids(other.Messages()))
	}
	if r, err := one.Compact(t.Context(), kagewasm.Request{}); err != nil || !has(r.Messages, "more") {
		t.Errorf("it is compacted without what the other has got: %v", err)
	}
}

// TestRolledBackByAnother: an answer to what another process took back is not added.
func TestRolledBackByAnother(t *testing.T) {
	features.Proves(t, "K11")
	one, other := two(t, newCompactor(t, kagewasm.Options{}), new(session.MemoryJournal), chat(4))
	d, err := one.Dispatch(t.Context(), func(ctx context.Context, msgs []abi.Message) ([]abi.Message, error) {
		if err := other.RollbackTo(ctx, 0); err != nil {
			t.Fatal(err)
		}
		return said("answer", nil)(ctx, msgs)
	})
	if abi.CodeOf(err) != abi.CodeConflict || d.Unstored() || len(one.Messages()) != 0 {
		t.Errorf("%v, to be stored %t: %s", err, d.Unstored(), ids(one.Messages()))
	}
}

// TestAnswersAreStoredLater: an answer that the journal did not take can be stored when it does, once.
func TestAnswersAreStoredLater(t *testing.T) {
	features.Proves(t, "T3", "K3")
	j := new(fullJournal)
	one, _ := two(t, newCompactor(t, kagewasm.Options{}), j, chat(4))
	d, err := one.Dispatch(t.Context(), func(ctx context.Context, msgs []abi.Message) ([]abi.Message, error) {
		j.full = true
		return said("answer", nil)(ctx, msgs)
	})
	if err == nil || !d.Unstored() || len(d.Messages) != 1 {
		t.Fatalf("%v, to be stored %t", err, d.Unstored())
	}
	if err := d.Store(t.Context(), d.Messages); err == nil || !d.Unstored() {
		t.Errorf("%v, to be stored %t", err, d.Unstored())
	}
	j.full = false
	if err := d.Store(t.Context(), d.Messages); err != nil || d.Unstored() || !has(one.Messages(), "answer") {
		t.Errorf("%v, to be stored %t", err, d.Unstored())
	}
	if err := d.Store(t.Context(), d.Messages); abi.CodeOf(err) != abi.CodeUsage {
		t.Errorf("stored twice: %v", err)
	}
}

// lateJournal keeps what it is given and fails all the same, once, as where a database is lost behind a commit.
type lateJournal struct {
	session.MemoryJournal
	fails bool
}

func (j *lateJournal) Append(ctx context.Context, s string, e session.Entry) error {
	err := j.MemoryJournal.Append(ctx, s, e)
	if err == nil && j.fails {
		j.fails = false
		err = errors.New("the connection is gone")
	}
	return err
}

// TestStoredThoughTheJournalFailed: an answer that the journal has kept though it failed is there once, when it is
// given again, with an id of its own and without.
func TestStoredThoughTheJournalFailed(t *testing.T) {
	features.Proves(t, "T3")
	for _, id := range []string{"", "answer"} {
		j := new(lateJournal)
		one, _ := two(t, newCompactor(t, kagewasm.Options{}), j, chat(4))
		before := len(one.Messages())
		answer := []abi.Message{{ID: id, Role: abi.RoleAssistant, Content: abi.Text("It is done.")}}
		call := func(context.Context, []abi.Message) ([]abi.Message, error) {
			j.fails = true
			return answer, nil
		}
		d, err := one.Dispatch(t.Context(), call)
		if err == nil || !d.Unstored() {
			t.Fatalf("id %q: %v, unstored %v", id, err, d.Unstored())
		}
		if err := d.Store(t.Context(), answer); err != nil || d.Unstored() || len(one.Messages()) != before+1 {
			t.Errorf("id %q: %v, unstored %v: %s", id, err, d.Unstored(), ids(one.Messages()))
		}
	}
}
