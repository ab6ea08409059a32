package session

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/kagewasm/kagewasm/abi"
)

// history is a session's entries, and what they come to.
type history struct {
	journal Journal
	key     string // of the session in the journal
	now     func() time.Time

	entries []Entry
	// views[k] is the list the model sees after k entries. They share what
	// they have in common.
	views [][]abi.Message
	// arrived are all messages that ever did, by id and as they came; inserted
	// ones too.
	arrived map[string]*abi.Message
	archive archive
	// epoch counts the rollbacks.
	epoch int
}

// newHistory takes in the entries that the journal has of a session.
func newHistory(ctx context.Context, j Journal, key string, now func() time.Time) (*history, error) {
	h := &history{journal: j, key: key, now: now, views: [][]abi.Message{nil}, arrived: make(map[string]*abi.Message)}
	entries, err := j.Load(ctx, key)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		view, err := h.after(e)
		if err != nil {
			return nil, err
		}
		h.add(e, view)
	}
	return h, nil
}

// append adds messages that arrived.
func (h *history) append(ctx context.Context, msgs []abi.Message) error {
	if len(msgs) == 0 {
		return nil
	}
	if err := h.fresh(msgs); err != nil {
		return err
	}
	return h.write(ctx, Entry{Append: slices.Clone(msgs)})
}

// write adds an entry to the journal and takes it in.
func (h *history) write(ctx context.Context, e Entry) error {
	e.Seq, e.Time = h.next(), h.now().UTC().Format(time.RFC3339)
	view, err := h.after(e)
	if err != nil {
		return err
	}
	if err := h.journal.Append(ctx, h.key, e); err != nil {
		return err
	}
	h.add(e, view)
	return nil
}

// view is the list the model sees. It must not be changed.
func (h *history) view() []abi.Message { return h.views[len(h.entries)] }

func (h *history) next() int { return len(h.entries) + 1 }

func (h *history) add(e Entry, view []abi.Message) {
	h.archive.take(&e, h.view(), view)
	if e.Rollback != nil {
		h.epoch++
	}
	h.entries = append(h.entries, e)
	h.views = append(h.views, view)
	for i := range e.Append {
		h.arrived[e.Append[i].ID] = &e.Append[i]
	}
	if e.Rewrite != nil {
		for i := range e.Rewrite.New {
			if m := &e.Rewrite.New[i]; h.arrived[m.ID] == nil { // else it is shorter than it was
				h.arrived[m.ID] = m
			}
		}
	}
}

// fresh checks the ids of messages that arrive: an id means one message, for
// good.
func (h *history) fresh(msgs []abi.Message) error {
	now := make(map[string]bool, len(msgs))
	for i := range msgs {
		id := msgs[i].ID
		if id == "" || now[id] || h.arrived[id] != nil {
			return usage("message %d: id %q: every message of a session needs an id of its own, also beside those that "+
				"were superseded", i, id)
		}
		now[id] = true
	}
	return nil
}

// after is the list as an entry leaves it.
func (h *history) after(e Entry) ([]abi.Message, error) {
	view := h.view()
	switch {
	case e.Seq != h.next():
		return nil, broken("entry %d where %d is due", e.Seq, h.next())
	case e.Rollback != nil:
		if to := *e.Rollback; to < 0 || to >= e.Seq {
			return nil, broken("entry %d goes back to %d", e.Seq, to)
		}
		return slices.Clip(h.views[*e.Rollback]), nil // so that what comes next does not overwrite what came then
	case e.Rewrite != nil:
		return e.Rewrite.apply(view)
	}
	return append(view, e.Append...), nil
}

// apply makes the new list.
func (r *Rewrite) apply(view []abi.Message) ([]abi.Message, error) {
	known := make(map[string]*abi.Message, len(view)+len(r.New))
	for i := range view {
		known[view[i].ID] = &view[i]
	}
	for i := range r.New {
		known[r.New[i].ID] = &r.New[i]
	}
	out := make([]abi.Message, 0, len(r.Order))
	for _, id := range r.Order {
		m, ok := known[id]
		if !ok {
			return nil, broken("a rewritten list names %q, which is not there", id)
		}
		out = append(out, *m)
	}
	return out, nil
}

// rewriteOf says what became of a list.
func rewriteOf(was, is []abi.Message, record *abi.Record) *Rewrite {
	r := &Rewrite{Order: make([]string, len(is)), Record: record}
	old := make(map[string]*abi.Message, len(was))
	for i := range was {
		old[was[i].ID] = &was[i]
	}
	for i := range is {
		r.Order[i] = is[i].ID
		if m := old[is[i].ID]; m == nil || !m.Same(&is[i]) {
			r.New = append(r.New, is[i])
		}
	}
	return r
}

// holding is the number of the entry that brought a message.
func (h *history) holding(id string) (int, bool) {
	for k := range h.entries {
		if slices.ContainsFunc(h.entries[k].Append, func(m abi.Message) bool { return m.ID == id }) {
			return k + 1, true
		}
	}
	return 0, false
}

// records are the compactions that are in force: those that were rolled back
// are not.
func (h *history) records() []abi.Record {
	var list []abi.Record
	live := make([][]abi.Record, len(h.views))
	for k, e := range h.entries {
		list = live[k]
		switch {
		case e.Rollback != nil:
			list = live[*e.Rollback]
		case e.Rewrite != nil && e.Rewrite.Record != nil:
			list = append(slices.Clip(list), *e.Rewrite.Record)
		}
		live[k+1] = list
	}
	return list
}

func broken(format string, args ...any) error {
	return &abi.Error{Code: abi.CodeBadInput, Op: "open session", Message: "the journal is not whole: " +
		fmt.Sprintf(format, args...),
		Hint: "restore it from a copy; nothing was written"}
}
