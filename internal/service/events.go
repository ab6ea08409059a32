package service

import (
	"sync"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/session"
)

// Event is something that happened to a session, for who watches. Compactions have the
// types of the audit log.
type Event struct {
	// ID counts the events since the service began.
	ID   int64  `json:"id"`
	Type string `json:"type"`
	Time string `json:"time"`
	// Session is the key of the session.
	Session string `json:"session"`
	// Version is the session's after an entry of its journal.
	Version    int    `json:"version,omitempty"`
	Compaction string `json:"compaction,omitempty"`
	// ReasonCode says how a compaction ended, TokensBefore and TokensAfter what it came to.
	ReasonCode   string `json:"reason_code,omitempty"`
	TokensBefore int    `json:"tokens_before,omitempty"`
	TokensAfter  int    `json:"tokens_after,omitempty"`
	DryRun       bool   `json:"dry_run,omitempty"`
}

// What happens to sessions beside the events of compactions.
const (
	EventCreated    = "session.created"
	EventAppended   = "session.appended"
	EventRewritten  = "session.rewritten"
	EventRolledBack = "session.rolled_back"
	EventProposed   = "checkpoint.proposed"
	EventRejected   = "checkpoint.rejected"
	EventDeleted    = "session.deleted"
	EventFlagged    = "compaction.flagged"
	EventKnobs      = "knobs.changed"
	EventBreaker    = "breaker.reset"
)

func typeOf(e *session.Entry) string {
	switch {
	case e.Rewrite != nil:
		return EventRewritten
	case e.Rollback != nil:
		return EventRolledBack
	case e.Proposed != nil:
		return EventProposed
	case e.Rejected != nil:
		return EventRejected
	}
	return EventAppended
}

func eventOf(e kagewasm.Event) Event {
	out := Event{Type: string(e.Type), Time: e.Time, Session: session.Key(e.Session), Compaction: e.Compaction}
	if r := e.Report; r != nil {
		out.ReasonCode, out.TokensBefore, out.TokensAfter = string(r.ReasonCode), r.TokensBefore, r.TokensAfter
		out.DryRun = r.DryRun
	}
	return out
}

// hub passes events on to who watches.
type hub struct {
	mu     sync.Mutex
	last   int64
	to     map[chan Event]string // with the session that is watched, empty for all
	closed bool
}

// watchers keep this many events until they are read; who is further behind misses some.
const watcherBacklog = 256

func (h *hub) publish(e Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last++
	e.ID = h.last
	for c, key := range h.to {
		if key != "" && key != e.Session {
			continue
		}
		select {
		case c <- e:
		default: // a gap in the ids tells it
		}
	}
}

// Watch sends events of a session, or of all where key is empty, until stop is called or
// the service ends, which closes the channel. Who reads too slowly misses some: there is
// a gap in the ids then.
func (s *core) Watch(key string) (events <-chan Event, stop func()) {
	h := &s.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	c := make(chan Event, watcherBacklog)
	if h.closed {
		close(c)
		return c, func() {}
	}
	if h.to == nil {
		h.to = make(map[chan Event]string)
	}
	h.to[c] = key
	return c, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if _, ok := h.to[c]; ok {
			delete(h.to, c)
			close(c)
		}
	}
}

func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for c := range h.to {
		close(c)
	}
	h.to = nil
}
