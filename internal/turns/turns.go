// Package turns knows which turns of a stored session are open, which calls of its model are in flight, and which
// compactions its agent asked for that wait for the end of a turn. The store alone says so, for every process on it:
// whoever began a turn or asked, and whoever ended or answered it. To ask is a look-up by key.
package turns

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/process"
	"github.com/kagewasm/kagewasm/store"
)

// longest is how long a turn is open that nobody ends: the agent that began it may be gone.
const longest = 12 * time.Hour

// Open is a turn that is open, or a call of the model that is in flight. It is the value of one in the store.
type Open struct {
	ID    string    `json:"-"`
	Begun time.Time `json:"begun"`
	// Until is when it counts as over though nobody ended it.
	Until time.Time `json:"until,omitzero"`
	// Call: it is a call of the model, which ends with the process that made it.
	Call bool `json:"call,omitempty"`
	// Compaction: so is a compaction, and it is one.
	Compaction bool `json:"compaction,omitempty"`
	// By is the process that it began at, for people, and Process its name, by which it is known to be gone.
	By      string `json:"by,omitempty"`
	Process string `json:"process,omitempty"`
	// Left: the process is gone, and the agent may still be there and go on with the turn at another one.
	Left bool `json:"left,omitempty"`
}

// Gone reports whether its process is known to have ended on this machine.
func (o *Open) Gone() bool { return process.Gone(o.Process) }

// kept is a turn or a call of a session as the store has it.
func kept(key, id string) store.Kept { return store.Kept{Kind: store.KeptTurn, Owner: key, Name: id} }

// callPrefix begins the ids of calls.
const callPrefix = "call-"

// NewCall is the id of a call that nobody has.
func NewCall() string { return newID(callPrefix) }

func newID(prefix string) string { return prefix + strings.ToLower(rand.Text()[:16]) }

// Begin begins a turn of a session and returns its id. What nobody ended in time, or can end, is forgotten.
func Begin(ctx context.Context, s *store.Store, key string) (id string, err error) {
	id = newID("turn-")
	return id, begin(ctx, s, key, id, Open{}, longest)
}

// BeginCall says that a call is in flight, for so long at most.
func BeginCall(ctx context.Context, s *store.Store, key, id string, most time.Duration) error {
	return begin(ctx, s, key, id, Open{Call: true}, most)
}

// BeginCompaction says that a compaction is running that nobody waits for, which ends as a call does.
func BeginCompaction(ctx context.Context, s *store.Store, key, id string, most time.Duration) error {
	return begin(ctx, s, key, id, Open{Call: true, Compaction: true}, most)
}

func begin(ctx context.Context, s *store.Store, key, id string, o Open, most time.Duration) error {
	o.Begun, o.By, o.Process = time.Now().UTC(), here(), process.Self()
	o.Until = o.Begun.Add(most)
	return s.Update(ctx, func(tx *store.Tx) error {
		_, over, err := all(ctx, tx, key)
		if err != nil {
			return err
		}
		for _, k := range over {
			if _, err := k.kept.Drop(ctx, tx); err != nil {
				return err
			}
		}
		if o.Call { // so the session's agent is here
			if err := goOn(ctx, tx, key); err != nil {
				return err
			}
		}
		return openKept{o, kept(key, id)}.keep(ctx, tx)
	})
}

// here names this process.
func here() string {
	host, _ := os.Hostname()
	return fmt.Sprintf("process %d on %s", os.Getpid(), cmp.Or(host, "an unnamed host"))
}

// End ends a turn and reports whether it had begun and nobody had ended it. One that counts as over already may be
// ended: its agent is still there.
func End(ctx context.Context, s *store.Store, key, id string) (ended bool, err error) {
	if id == "" || strings.HasPrefix(id, callPrefix) { // the first stands for all in the store
		return false, nil
	}
	return end(ctx, s, kept(key, id))
}

// EndCall says that a call has ended.
func EndCall(ctx context.Context, s *store.Store, key, id string) error {
	_, err := end(ctx, s, kept(key, id))
	return err
}

// EndCalls ends the calls of all sessions. It is for who knows that the processes are gone that made them.
func EndCalls(ctx context.Context, s *store.Store) error {
	open, over, err := all(ctx, s)
	var calls []store.Kept
	for _, o := range append(open, over...) {
		if o.Call {
			calls = append(calls, o.kept)
		}
	}
	if err != nil || len(calls) == 0 {
		return err
	}
	_, err = end(ctx, s, calls...)
	return err
}

// comesBack is how long the agent of a turn may take to go on with it at a server that was started where the one that
// it began at is gone.
const comesBack = 10 * time.Minute

// TakeOver keeps the turns open of processes that are gone, of some sessions or of all, for as long as their agents may
// take to come to this one, which [GoOn] or [BeginCall] says.
func TakeOver(ctx context.Context, s *store.Store, keys ...string) error {
	return s.Update(ctx, func(tx *store.Tx) error {
		open, _, err := all(ctx, tx, keys...)
		until := time.Now().Add(comesBack).UTC()
		for _, o := range open {
			if err == nil && o.Gone() {
				o.Process, o.Left = process.Self(), true
				if until.Before(o.Until) {
					o.Until = until
				}
				err = o.keep(ctx, tx)
			}
		}
		return err
	})
}

// GoOn says that the agent of a session is at this process: a turn that was left is open as if it had begun here.
func GoOn(ctx context.Context, s *store.Store, key string) error {
	open, err := List(ctx, s, key)
	if err != nil || !slices.ContainsFunc(open, func(o Open) bool { return o.Left || o.Gone() }) {
		return err
	}
	return s.Update(ctx, func(tx *store.Tx) error { return goOn(ctx, tx, key) })
}

func goOn(ctx context.Context, tx *store.Tx, key string) error {
	open, _, err := all(ctx, tx, key)
	for _, o := range open {
		if err == nil && (o.Left || o.Gone()) {
			o.Process, o.Left, o.Until = process.Self(), false, o.Begun.Add(longest)
			err = o.keep(ctx, tx)
		}
	}
	return err
}

// keep stores it as it is.
func (o openKept) keep(ctx context.Context, tx *store.Tx) (err error) {
	if o.kept.Value, err = json.Marshal(o.Open); err != nil {
		return err
	}
	return o.kept.Keep(ctx, tx)
}

func end(ctx context.Context, s *store.Store, list ...store.Kept) (ended bool, err error) {
	err = s.Update(ctx, func(tx *store.Tx) (err error) {
		for _, k := range list {
			if ended, err = k.Drop(ctx, tx); err != nil {
				return err
			}
		}
		return nil
	})
	return ended, err
}

// List are the turns of a session that are open, and its calls in flight, the oldest first. A turn whose process is
// gone is open: its agent may go on with it at another one.
func List(ctx context.Context, s *store.Store, key string) (list []Open, err error) {
	open, _, err := all(ctx, s, key)
	for _, o := range open {
		list = append(list, o.Open)
	}
	slices.SortStableFunc(list, func(a, b Open) int { return a.Begun.Compare(b.Begun) })
	return list, err
}

// Running are those that [List] has whose process is not known to be gone. It is for who is no server: where none runs
// nobody takes a turn over.
func Running(ctx context.Context, s *store.Store, key string) ([]Open, error) {
	list, err := List(ctx, s, key)
	return lists.Filter(list, func(o Open) bool { return !o.Gone() }), err
}

// Over are the turns and calls of some sessions, or of all, whose process is gone.
func Over(ctx context.Context, s *store.Store, keys ...string) (list []Open, err error) {
	open, over, err := all(ctx, s, keys...)
	for _, o := range append(open, over...) {
		if o.Gone() && time.Now().Before(o.Until) {
			list = append(list, o.Open)
		}
	}
	return list, err
}

// Any reports whether any session has one that is running.
func Any(ctx context.Context, s *store.Store) (bool, error) {
	open, _, err := all(ctx, s)
	return slices.ContainsFunc(open, func(o openKept) bool { return !o.Gone() }), err
}

// openKept is one that is open, as it is read and as it is stored.
type openKept struct {
	Open
	kept store.Kept
}

// all are those of some sessions, or of all: those that are open, and those that nobody ended in time, or can end.
func all(ctx context.Context, s reader, keys ...string) (open, over []openKept, err error) {
	list, err := s.Kept(ctx, store.KeptTurn, keys...)
	for _, k := range list {
		o := openKept{Open{ID: k.Name}, k}
		unread := json.Unmarshal(k.Value, &o.Open) != nil
		if o.Until.IsZero() { // an earlier version began it
			o.Until = o.Begun.Add(longest)
		}
		if unread || time.Now().After(o.Until) || o.Call && o.Gone() {
			over = append(over, o)
		} else {
			open = append(open, o)
		}
	}
	return open, over, err
}

// String is what it is, since when, and at which process.
func (o Open) String() string {
	what, by := "a turn is running", "begun"
	switch {
	case o.Compaction:
		what = "a compaction that was asked for in a turn is running"
	case o.Call:
		what, by = "a call of the model is in flight", "made"
	}
	said := fmt.Sprintf("%s since %s (%s", what, stamp(o.Begun), o.ID)
	if o.By != "" {
		said += fmt.Sprintf(", %s by %s", by, o.By)
	}
	return said + ")"
}

// Busy is the error of what has to wait for the end of a turn of a session, or of a call. op is what that is, hint what
// to do.
func Busy(op, key, hint string, o Open) error {
	gone := fmt.Sprintf("where its agent is gone, DELETE /api/v1/sessions/%s/turns/%s ends the turn", url.PathEscape(key),
		o.ID)
	switch {
	case o.Compaction:
		gone = "where that process is gone, it counts as over at " + stamp(o.Until)
	case o.Call:
		gone = "where that process is gone, the call counts as over at " + stamp(o.Until)
	case o.Left:
		gone = "that process is gone, and the turn counts as over at " + stamp(o.Until) + ", if its agent does not end it; " +
			gone
	}
	return &abi.Error{Code: abi.CodeBusy, Op: op, Hint: hint + "; " + gone,
		Message: fmt.Sprintf("session %q: %s", key, o)}
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
