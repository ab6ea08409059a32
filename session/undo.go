package session

import (
	"context"

	"github.com/kagewasm/kagewasm/abi"
)

// Rollback goes back to where the message of that id had just arrived. Messages after it, of the same
// entry or of a later one, are not in the list any more: see [Session.Rollback]. An id that never
// arrived is a usage error.
func (h *History) Rollback(ctx context.Context, id string) error {
	seq, ok := h.archive.arrived[id]
	if !ok {
		return usage("rollback", "message %q: the session has none of that id", id)
	}
	list, last := h.points[seq].messages, id
	if through(list, id) == len(list) {
		last = ""
	}
	return h.write(ctx, Entry{Rollback: &seq, Through: last})
}

// RollbackTo goes back to where the session had so many entries. 0 is its very
// beginning.
func (h *History) RollbackTo(ctx context.Context, seq int) error {
	if seq < 0 || seq >= h.next() {
		return usage("rollback", "entry %d: the session has 0 to %d", seq, h.Len())
	}
	return h.write(ctx, Entry{Rollback: &seq})
}

// Undo goes back to before the last compaction that is in force, and returns its
// record. What it superseded is back, byte for byte; what arrived later is taken
// back with it. The error is a usage error where there is none.
func (h *History) Undo(ctx context.Context) (*abi.Record, error) {
	for at := h.last().state; at > 0; at = h.points[at].from {
		if p := &h.points[at]; p.compacted {
			return new(p.records[len(p.records)-1]), h.RollbackTo(ctx, at-1)
		}
	}
	return nil, usage("undo", "session %q: no compaction is in force", h.key)
}

// Redo takes back the last rollback, where nothing happened after it. Otherwise the error is a usage
// error.
func (h *History) Redo(ctx context.Context) error {
	if len(h.undone) == 0 {
		return usage("redo", "session %q: nothing was undone last", h.key)
	}
	return h.RollbackTo(ctx, h.undone[len(h.undone)-1])
}

// Redone reports whether the last entry took a rollback back.
func (h *History) Redone() bool { return h.redone }

// wentBack notes a rollback from one state to another. It is an undo that a redo can take back, or a
// redo.
func wentBack(h *History, from, to int) {
	switch n := len(h.undone); {
	case n > 0 && h.undone[n-1] == to:
		h.undone, h.redone = h.undone[:n-1], true
	case from != to:
		h.undone = append(h.undone, from)
	}
}
