package session

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/msgid"
)

// history is what a session's entries come to.
type history struct {
	journal Journal
	key     string // of the session in the journal
	now     func() time.Time

	// points[k] is the session after k entries.
	points  []point
	archive archive
	// epoch counts the rollbacks.
	epoch int
}

// point is a session as an entry left it. Points share what they have in common,
// and so must not be changed.
type point struct {
	messages []abi.Message // that the model sees
	records  []abi.Record  // of the compactions in force
}

// newHistory takes in the entries that the journal has of a session.
func newHistory(ctx context.Context, j Journal, key string, now func() time.Time) (*history, error) {
	h := &history{journal: j, key: key, now: now, points: []point{{}}}
	entries, err := j.Load(ctx, key)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		p, err := h.after(e)
		if err != nil {
			return nil, err
		}
		h.add(e, p)
	}
	return h, nil
}

// append adds messages that arrived. An id means one message, for good; who has none
// gets one.
func (h *history) append(ctx context.Context, msgs []abi.Message) error {
	if len(msgs) == 0 {
		return nil
	}
	taken := func(id string) bool { return h.archive.get(id) != nil }
	msgs = msgid.Fill(msgs, nil, taken)
	now := make(map[string]bool, len(msgs))
	for i := range msgs {
		id, role := msgs[i].ID, msgs[i].Role
		if now[id] || taken(id) {
			return usage("append", "message %d: id %q: every message of a session needs an id of its own, "+
				"also beside those that were superseded", i, id)
		}
		if !role.Valid() {
			return usage("append", "message %d: role %q: use system, user, assistant or tool", i, role)
		}
		now[id] = true
	}
	return h.write(ctx, Entry{Append: slices.Clone(msgs)})
}

// write adds an entry to the journal and takes it in.
func (h *history) write(ctx context.Context, e Entry) error {
	e.Seq, e.Time = h.next(), h.now().UTC().Format(time.RFC3339)
	p, err := h.after(e)
	if err != nil {
		return err
	}
	if err := h.journal.Append(ctx, h.key, e); err != nil {
		return err
	}
	h.add(e, p)
	return nil
}

// next is the number of the next entry.
func (h *history) next() int { return len(h.points) }

// last is the session as it is.
func (h *history) last() point { return h.points[len(h.points)-1] }

func (h *history) add(e Entry, p point) {
	h.archive.take(&e, h.last().messages, p.messages)
	if e.Rollback != nil {
		h.epoch++
	}
	h.points = append(h.points, p)
}

// after is the session as an entry leaves it.
func (h *history) after(e Entry) (p point, err error) {
	p = h.last()
	switch {
	case e.Seq != h.next():
		return p, broken("entry %d where %d is due", e.Seq, h.next())
	case e.Rollback != nil:
		to := *e.Rollback
		if to < 0 || to >= e.Seq {
			return p, broken("entry %d goes back to %d", e.Seq, to)
		}
		p = h.points[to]
		p.messages = slices.Clip(p.messages) // so that what comes next does not overwrite what came then
	case e.Rewrite != nil:
		if e.Rewrite.Record != nil {
			p.records = append(slices.Clip(p.records), *e.Rewrite.Record)
		}
		p.messages, err = e.Rewrite.apply(p.messages)
	default:
		p.messages = append(p.messages, e.Append...)
	}
	return p, err
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

func broken(format string, args ...any) error {
	return &abi.Error{Code: abi.CodeBadInput, Op: "open session", Message: "the journal is not whole: " +
		fmt.Sprintf(format, args...),
		Hint: "restore it from a copy; nothing was written"}
}
