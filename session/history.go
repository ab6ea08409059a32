package session

import (
	"context"
	"fmt"
	"slices"
	"time"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/lists"
)

// History is a session as its journal has it; [OpenHistory] reads one. A [Session] has one. Programs
// that call no model open one by itself, to show a session or to undo what was done to it. Only one
// goroutine may use it at a time.
type History struct {
	journal Journal
	key     string // of the session in the journal
	now     func() time.Time

	// points[k] is the session after k entries.
	points  []point
	archive archive
	pending *Checkpoint
	quiet   int // what the last rejection said
	// rejected says that nothing came since a rejection, but for what pruning shortened.
	rejected bool
	// epoch counts the rollbacks.
	epoch int
	// undone are the states that rollbacks left, with nothing after them, the latest last.
	undone []int
	redone bool // the last entry is a redo
	// adopt is called with a checkpoint that another process proposed, to make it one of the session;
	// nil where nothing is to be done.
	adopt func(*Checkpoint)
}

// point is a session as an entry left it. Points share messages, so they must not be changed.
type point struct {
	messages []abi.Message // that the model sees
	records  []abi.Record  // of the compactions in force
	// state is the number of the entry that made this state: after a rollback an earlier one. from is
	// the state that it was made of.
	state, from int
	compacted   bool // by that entry
	grown       bool // from messages that arrived with it
}

// Key returns the name of an agent's session in a journal. Agents of one session have compactions of
// their own, so it holds the agent's path.
func Key(s abi.Session) string {
	if s.AgentPath == "" {
		return s.ID
	}
	return s.ID + "#" + s.AgentPath
}

// OpenHistory reads the entries that a journal has of a session. now is the clock, nil for time.Now.
// The error has the code bad_input where the entries are not whole; others are the journal's.
func OpenHistory(ctx context.Context, j Journal, key string, now func() time.Time) (*History, error) {
	if now == nil {
		now = time.Now
	}
	h := &History{journal: j, key: key, now: now, points: []point{{}}}
	entries, err := j.Load(ctx, key)
	if err != nil {
		return nil, err
	}
	for i := range entries {
		p, err := h.after(&entries[i])
		if err != nil {
			return nil, err
		}
		h.add(&entries[i], p)
	}
	return h, nil
}

// Len returns the number of entries.
func (h *History) Len() int { return len(h.points) - 1 }

// Messages returns the list the model would see. The messages are shared: they must not be changed.
func (h *History) Messages() []abi.Message { return slices.Clip(h.last().messages) }

// At returns the list as it was after so many entries, from 0 to [History.Len].
func (h *History) At(seq int) []abi.Message { return slices.Clip(h.points[seq].messages) }

// All returns every message there ever was, with what became of it.
func (h *History) All() []StoredMessage {
	list, shown := h.archive.ordered(), make(map[string]*abi.Message)
	for i := range h.last().messages {
		m := &h.last().messages[i]
		shown[m.ID] = m
	}
	for i := range list {
		if m := shown[list[i].ID]; m != nil {
			list[i].Shortened = !list[i].Same(m)
		}
	}
	return list
}

// Compactions returns the records of the compactions in force, oldest first.
func (h *History) Compactions() []abi.Record { return slices.Clone(h.last().records) }

// Pending returns the compaction that waits for the operator, or nil.
func (h *History) Pending() *Checkpoint { return h.pending }

// Append adds messages that arrived. An id belongs to one message for good: one that the session has,
// or ever had, is a usage error. A message without an id gets one.
func (h *History) Append(ctx context.Context, msgs ...abi.Message) error {
	if len(msgs) == 0 {
		return nil
	}
	var e Entry
	if err := e.Arrive(msgs, func(id string) bool { return h.archive.get(id) != nil }); err != nil {
		return err
	}
	return h.write(ctx, e)
}

// Rewrite replaces the list: with what a compaction made of it, and its record, or with what a pruning
// did, and nil.
func (h *History) Rewrite(ctx context.Context, list []abi.Message, record *abi.Record) error {
	return h.write(ctx, Entry{Rewrite: rewriteOf(h.last().messages, list, record)})
}

// Propose stores a compaction that waits for the operator. Its messages are what it would make of the
// list there is.
func (h *History) Propose(ctx context.Context, made *kagewasm.Result) error {
	return h.write(ctx, Entry{Proposed: &Proposal{Report: made.Report, Heard: made.Heard, Said: made.Said,
		Rewrite: *rewriteOf(h.last().messages, made.Messages, made.Record)}})
}

// Approve puts the compaction that waits in place, exactly as it was shown. Messages that arrived since
// stay.
func (h *History) Approve(ctx context.Context, id string) error {
	cp, err := waitingFor(h.pending, id)
	if err != nil {
		return err
	}
	list, err := Swap(cp.result(), cp.req.Messages, h.last().messages)
	if err != nil {
		return err
	}
	return h.Rewrite(ctx, list, cp.Record)
}

// Reject drops the compaction that waits. Another one is proposed when the session
// has grown by a twentieth of the window, or when messages arrived and it does not fit.
func (h *History) Reject(ctx context.Context, id, why string) error {
	cp, err := waitingFor(h.pending, id)
	if err != nil {
		return err
	}
	return h.write(ctx, Entry{Rejected: &Rejection{ID: id, Why: why,
		Quiet: cp.Report.TokensBefore + int(quietShare*float64(cp.Report.Window))}})
}

// write adds an entry to the journal and takes it in. Where another process wrote first the error has
// the code conflict, and the history is read again, so that it has what was written.
func (h *History) write(ctx context.Context, e Entry) error {
	e.Seq, e.Time = h.next(), h.now().UTC().Format(time.RFC3339)
	p, err := h.after(&e)
	if err != nil {
		return err
	}
	if err := h.journal.Append(ctx, h.key, e); err != nil {
		if abi.CodeOf(err) == abi.CodeConflict {
			reread(ctx, h)
		}
		return err
	}
	h.add(&e, p)
	return nil
}

// reread takes in what others wrote after the entries that are known. Where the journal does not go on
// from those, as after the session was deleted, or cannot be read, all stays as it is.
func reread(ctx context.Context, h *History) {
	now, err := OpenHistory(ctx, h.journal, h.key, h.now)
	if err != nil || now.Len() <= h.Len() ||
		!slices.Equal(idsOf(now.points[h.Len()].messages), idsOf(h.last().messages)) {
		return
	}
	now.adopt = h.adopt
	switch was := h.pending; {
	case now.pending == nil:
	case was != nil && was.ID == now.pending.ID:
		now.pending = was // which knows the request that it came of
	case now.adopt != nil:
		now.adopt(now.pending)
	}
	*h = *now
}

// next returns the number of the next entry.
func (h *History) next() int { return len(h.points) }

// last returns the session as it is.
func (h *History) last() *point { return &h.points[len(h.points)-1] }

func (h *History) add(e *Entry, p point) {
	was := h.last()
	h.archive.take(e, was, &p)
	h.redone = false
	h.rejected = e.Rejected != nil || h.rejected && e.Rewrite != nil && e.Rewrite.Record == nil
	switch {
	case e.Rollback != nil:
		h.epoch++
		wentBack(h, was.state, p.state)
	case e.Proposed == nil && e.Rejected == nil:
		h.undone = nil
	}
	switch {
	case e.Proposed != nil:
		h.pending = checkpointOf(e, was.messages)
	case e.Rejected != nil:
		h.pending, h.quiet = nil, e.Rejected.Quiet
	case e.Rewrite != nil && e.Rewrite.Record != nil, e.Rollback != nil:
		h.pending, h.quiet = nil, 0
	case e.Rewrite != nil:
		h.pending = nil
	}
	h.points = append(h.points, p)
}

// after returns the session as an entry leaves it.
func (h *History) after(e *Entry) (p point, err error) {
	p = *h.last()
	if e.Seq != h.next() {
		return p, broken("entry %d where %d is due", e.Seq, h.next())
	}
	switch {
	case e.Rollback != nil:
		return h.back(e)
	case e.Proposed != nil:
		if e.Proposed.Rewrite.Record == nil {
			return p, broken("entry %d proposes a compaction without a record", e.Seq)
		}
		_, err = e.Proposed.Rewrite.apply(p.messages)
		return p, err
	case e.Rejected != nil:
		return p, nil
	}
	p.state, p.from, p.compacted, p.grown = e.Seq, p.state, false, e.Rewrite == nil
	if e.Rewrite == nil {
		p.messages = append(p.messages, e.Append...)
		return p, nil
	}
	if e.Rewrite.Record != nil {
		p.records, p.compacted = append(p.records, *e.Rewrite.Record), true
	}
	p.messages, err = e.Rewrite.apply(p.messages)
	return p, err
}

// back returns the session after a rollback.
func (h *History) back(e *Entry) (p point, err error) {
	to := *e.Rollback
	if to < 0 || to >= e.Seq {
		return p, broken("entry %d goes back to %d", e.Seq, to)
	}
	p = h.points[to]
	end := len(p.messages)
	if e.Through != "" {
		if end = through(p.messages, e.Through); end == 0 {
			return p, broken("entry %d goes back to %q, which is not in the list", e.Seq, e.Through)
		}
	}
	if end < len(p.messages) {
		p.state, p.from, p.compacted, p.grown = e.Seq, p.state, false, false
	}
	// What comes next must not overwrite what came then.
	p.messages, p.records = slices.Clip(p.messages[:end]), slices.Clip(p.records)
	return p, nil
}

// through returns how many messages a list has up to and with a message; 0 where it is not there.
func through(list []abi.Message, id string) int {
	return 1 + slices.IndexFunc(list, func(m abi.Message) bool { return m.ID == id })
}

// apply returns the new list that a rewrite makes of one.
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

// rewriteOf returns the rewrite that makes one list of another.
func rewriteOf(was, is []abi.Message, record *abi.Record) *Rewrite {
	r := &Rewrite{Order: idsOf(is), Record: record}
	old := make(map[string]*abi.Message, len(was))
	for i := range was {
		old[was[i].ID] = &was[i]
	}
	for i := range is {
		if m := old[is[i].ID]; m == nil || !m.Same(&is[i]) {
			r.New = append(r.New, is[i])
		}
	}
	return r
}

func idsOf(msgs []abi.Message) []string {
	return lists.Map(msgs, func(m abi.Message) string { return m.ID })
}

func broken(format string, args ...any) error {
	return &abi.Error{Code: abi.CodeBadInput, Op: "open session", Message: "the journal is not whole: " +
		fmt.Sprintf(format, args...),
		Hint: "restore it from a copy; nothing was written"}
}
