package session

import (
	"context"
	kagewasm "github.com/kagewasm/kagewasm"
	"slices"
	"sync"
	"time"

	"github.com/kagewasm/kagewasm/abi"
)

// Session is the conversation of one agent, kept by a [Compactor]: the list its
// model sees, everything that was ever in it, and the compactions between. Hosts
// that keep their own lists call [kagewasm.Compactor.Compact] instead.
//
// It is safe for concurrent use. Messages may arrive at any time, also while a
// model is being called or a compaction runs: nothing that arrives is lost.
type Session struct {
	c       *kagewasm.Compactor
	id      abi.Session
	tools   int // tokens of what a request holds beside its messages
	journal Journal
	tooLong func(error) (abi.Exceeded, bool)

	// calling is held by whoever calls the model, or compacts in its place
	// (FEATURES K8).
	calling chan struct{}

	mu      sync.Mutex
	history *history
	turns   int           // turns that have begun and not ended
	wanted  []string      // instructions of compactions asked for, empty where there are none
	pending *Checkpoint   // waits for the operator
	job     *Job          // runs or ran in the background
	quiet   int           // tokens below which no compaction is proposed again
	sent    kagewasm.Sent // what the model was sent last
}

// key names the session in its journal: agents have windows and compactions of
// their own (FEATURES K5).
func (s *Session) key() string {
	if s.id.AgentPath == "" {
		return s.id.ID
	}
	return s.id.ID + "#" + s.id.AgentPath
}

// Messages is the list the model would see now. It shares its messages with the
// session: they must not be changed.
func (s *Session) Messages() []abi.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clip(s.history.view())
}

// All is every message there ever was, with what became of it: what the
// operator may see and the model may not (FEATURES K12).
func (s *Session) All() []StoredMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.history.archive.list)
}

// Compactions are the records of the compactions that are in force, oldest
// first (FEATURES K17).
func (s *Session) Compactions() []abi.Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.history.records()
}

// Append adds messages that arrived. Each needs an id that the session has not
// seen.
func (s *Session) Append(ctx context.Context, msgs ...abi.Message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.append(ctx, msgs)
}

func (s *Session) append(ctx context.Context, msgs []abi.Message) error {
	if len(msgs) == 0 {
		return nil
	}
	if err := s.history.fresh(msgs); err != nil {
		return err
	}
	return s.write(ctx, Entry{Append: slices.Clone(msgs)})
}

// write adds an entry to the journal and takes it in; s.mu is held.
func (s *Session) write(ctx context.Context, e Entry) error {
	e.Seq, e.Time = s.history.next(), s.c.Options().Now().UTC().Format(time.RFC3339)
	view, err := s.history.after(e)
	if err != nil {
		return err
	}
	if err := s.journal.Append(ctx, s.key(), e); err != nil {
		return err
	}
	s.history.add(e, view)
	return nil
}

// Rollback takes the session back to where the message of that id had just
// arrived. What came later is not shown to the model any more; compactions that
// came later are undone, and what they superseded is back, byte for byte
// (FEATURES K11). Rolling back is itself an entry, and can be rolled back with
// [Session.RollbackTo].
func (s *Session) Rollback(ctx context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	to, ok := s.history.holding(id)
	if !ok {
		return usage("message %q: the session has none of that id", id)
	}
	return s.rollback(ctx, to)
}

// RollbackTo is Rollback to where the session had so many entries.
func (s *Session) RollbackTo(ctx context.Context, seq int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if seq < 0 || seq >= s.history.next() {
		return usage("entry %d: the session has 0 to %d", seq, s.history.next()-1)
	}
	return s.rollback(ctx, seq)
}

func (s *Session) rollback(ctx context.Context, to int) error {
	if err := s.write(ctx, Entry{Rollback: &to}); err != nil {
		return err
	}
	if s.pending != nil { // it was made of another list
		s.rejected(s.pending, "the session was rolled back")
	}
	s.pending, s.quiet = nil, 0
	return nil
}

// request is a look at the session as it is.
func (s *Session) request(reason abi.TriggerReason) kagewasm.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return kagewasm.Request{Session: s.id, Messages: slices.Clip(s.history.view()), Overhead: s.tools, Reason: reason,
		QuietBelow: s.quiet, Sent: new(s.sent), Ongoing: true, Original: s.original}
}

// original is a message as it came, or nil.
func (s *Session) original(id string) *abi.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.history.arrived[id]
}

// maxLooks is how often a session is looked at anew where another compaction was
// faster. Each leaves it smaller, so one more look is enough as a rule.
const maxLooks = 10

// look compacts where it has to, and keeps what came of it. The session may
// have grown meanwhile: what arrived stays. Where a compaction in the background
// was faster it looks at what that left.
func (s *Session) look(ctx context.Context, req kagewasm.Request) (result *kagewasm.Result, err error) {
	for range maxLooks {
		if result, err = s.lookOnce(ctx, req); abi.CodeOf(err) != abi.CodeConflict {
			break
		}
		req.Messages = s.Messages()
	}
	return result, err
}

func (s *Session) lookOnce(ctx context.Context, req kagewasm.Request) (*kagewasm.Result, error) {
	base := req.Messages
	req.Commit = func(ctx context.Context, r *kagewasm.Result) error { return s.keep(ctx, base, r) }
	result, err := s.c.Compact(ctx, req)
	switch {
	case result == nil || req.DryRun || result.Report.Compacted:
		return result, err
	case result.Pending != nil:
		return result, s.await(newCheckpoint(req, result.Pending))
	}
	done := err == nil || abi.CodeOf(err) == abi.CodeExceedsWindow
	if done && result.Report.Pruned.Count > 0 {
		// Pruning stays: done anew at every call, a little further each time,
		// it would cost the provider's cache each time (FEATURES I1).
		if kerr := s.keep(ctx, base, result); kerr != nil {
			err = kerr
		}
	}
	return result, err
}

// await pauses the session for a checkpoint, unless one waits already, or what
// it was made of is no more.
func (s *Session) await(cp *Checkpoint) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := stillBegins(cp.req.Messages, s.history.view())
	switch {
	case err != nil:
		s.rejected(cp, "the session changed meanwhile")
		return err
	case s.pending != nil:
		s.rejected(cp, "another one waits already")
	default:
		s.pending = cp
	}
	return nil
}

// keep puts a result in the place of the list it was made of.
func (s *Session) keep(ctx context.Context, base []abi.Message, r *kagewasm.Result) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.history.view()
	list, err := Swap(r, base, now)
	if err != nil {
		return err
	}
	record := r.Record
	if !r.Report.Compacted {
		record = nil
	}
	if err := s.write(ctx, Entry{Rewrite: rewriteOf(now, list, record)}); err != nil {
		return err
	}
	if record != nil {
		s.quiet = 0
	}
	return nil
}
