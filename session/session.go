package session

import (
	"cmp"
	"context"
	"strings"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
)

// Session is the conversation of one agent; [Open] opens one. It has the list that its model sees,
// everything that was ever in it, and the compactions between.
//
// A Session is safe for concurrent use. Messages may arrive at any time, also while a model is being
// called or a compaction runs: nothing that arrives is lost.
type Session struct {
	compactor *kagewasm.Compactor
	tooLong   func(error) (abi.Exceeded, bool)
	gate      gate
	state     state
	recalls   RecallIndex
}

// Messages returns the list the model would see now. The messages are shared with the session: they
// must not be changed.
func (s *Session) Messages() []abi.Message {
	msgs, _ := s.state.list()
	return msgs
}

// All returns every message there ever was, with what became of it. The operator may see them all; the
// model sees [Session.Messages].
func (s *Session) All() []StoredMessage { return s.state.all() }

// Compactions returns the records of the compactions that are in force, oldest first.
func (s *Session) Compactions() []abi.Record { return s.state.compactions() }

// Append adds messages that arrived. Their ids have to be ones that the session has never seen, also
// among those that were superseded. A message without an id gets one: see [Session.Messages]. Messages
// that others wrote to the journal meanwhile stand before them.
func (s *Session) Append(ctx context.Context, msgs ...abi.Message) error {
	return s.state.append(ctx, msgs)
}

// Rollback takes the session back to where the message of that id had just
// arrived. The model is not shown any more what came later. Compactions that
// came later are undone: what they superseded is back, byte for byte. A rollback
// is itself an entry of the journal, and [Session.RollbackTo] undoes it.
func (s *Session) Rollback(ctx context.Context, id string) error {
	return goBack(ctx, s, func(h *History) error { return h.Rollback(ctx, id) })
}

// RollbackTo takes the session back to where it had so many entries. 0 is its very beginning.
func (s *Session) RollbackTo(ctx context.Context, seq int) error {
	return goBack(ctx, s, func(h *History) error { return h.RollbackTo(ctx, seq) })
}

// Undo takes the session back to before its last compaction: see [History.Undo].
func (s *Session) Undo(ctx context.Context) (undone *abi.Record, err error) {
	err = goBack(ctx, s, func(h *History) error { undone, err = h.Undo(ctx); return err })
	return undone, err
}

// Redo takes back the last rollback, or the last undo, where nothing came after it.
func (s *Session) Redo(ctx context.Context) error {
	return goBack(ctx, s, func(h *History) error { return h.Redo(ctx) })
}

func goBack(ctx context.Context, s *Session, do func(*History) error) error {
	dropped, err := s.state.change(nil, do)
	dropped.drop(ctx, s, "the session was rolled back")
	return err
}

// keep puts a result in the place of the list it was made of.
func keep(ctx context.Context, s *Session, base []abi.Message, r *kagewasm.Result, last int) error {
	dropped, err := s.state.keep(ctx, base, r, last)
	dropped.drop(ctx, s, "the session changed meanwhile")
	return err
}

// Request asks for a compaction on behalf of the agent, by its tool or otherwise, or of a plugin, and
// says what should be kept in view. It may be called at any time. The compaction runs when the turn is over: with
// [Session.EndOfTurn], or before the first call of the model in another turn. A compaction that begins
// for any other reason answers the requests made before it.
//
// What plugins ask for in a compaction of the session needs no such call.
func (s *Session) Request(w hooks.Wish) {
	w.Instructions = strings.TrimSpace(w.Instructions)
	s.state.want(s.gate.turn(), w)
}

// Requested returns the requests that no compaction has answered yet, oldest first. A host that keeps
// them may make them again when it opens the session again.
func (s *Session) Requested() []hooks.Wish { return s.state.requested() }

// Compact compacts the session now, whatever the thresholds say. While a turn or a call runs it returns
// an error at once, with the code busy. Of the request it uses Reason, which is manual by default,
// Target, Overrides, DryRun, Instructions, Release and Audit.
func (s *Session) Compact(ctx context.Context, with kagewasm.Request) (*kagewasm.Result, error) {
	if err := s.gate.tryEnter(); err != nil {
		return nil, err
	}
	defer s.gate.leave()
	if err := s.state.paused(); err != nil {
		return nil, err
	}
	req := s.state.request(cmp.Or(with.Reason, abi.TriggerManual))
	req.Force = true
	req.Target, req.Overrides, req.DryRun = with.Target, with.Overrides, with.DryRun
	req.Instructions, req.Release, req.Audit = with.Instructions, with.Release, with.Audit
	return s.look(ctx, req)
}

// maxLooks is how often a session is looked at again where another compaction was faster. Each of those
// leaves it smaller, so one more look is usually enough.
const maxLooks = 10

// look compacts where that is due, and keeps the result. The session may have grown meanwhile: messages
// that arrived stay. Where another compaction was faster, look starts again from what that one left.
func (s *Session) look(ctx context.Context, req asked) (result *kagewasm.Result, err error) {
	for range maxLooks {
		if result, err = s.lookOnce(ctx, req); abi.CodeOf(err) != abi.CodeConflict {
			break
		}
		req.Messages = s.Messages()
	}
	return result, err
}

func (s *Session) lookOnce(ctx context.Context, req asked) (*kagewasm.Result, error) {
	result, err := s.compact(ctx, req)
	if code := abi.CodeOf(err); code == "" || code == abi.CodeExceedsWindow {
		s.state.answered(req.wished)
	}
	return result, err
}

func (s *Session) compact(ctx context.Context, req asked) (*kagewasm.Result, error) {
	base := req.Messages
	commit := func(ctx context.Context, r *kagewasm.Result) error { return keep(ctx, s, base, r, req.before) }
	req.Commit, req.Search, req.Asked = commit, searchOf(s), s.Request
	result, err := s.compactor.Compact(ctx, req.Request)
	switch {
	case result == nil || req.DryRun || result.Report.Compacted:
		return result, err
	case result.Pending != nil:
		cp := newCheckpoint(s.compactor, req, result.Pending)
		whyNot, err := s.state.await(ctx, cp)
		if whyNot != "" {
			cp.drop(ctx, s, whyNot)
		}
		return result, err
	}
	done := err == nil || abi.CodeOf(err) == abi.CodeExceedsWindow
	if done && result.Report.Pruned.Count > 0 {
		// Pruning is stored too. Repeated at every call, a little further each time, it would cost the
		// provider's cache each time.
		if kerr := commit(ctx, result); kerr != nil {
			err = kerr
		}
	}
	return result, err
}
