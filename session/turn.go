package session

import (
	"context"
	kagewasm "github.com/kagewasm/kagewasm"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

// BeginTurn says that a turn of the agent begins: from the request of a person
// to the answer, with all tool calls between. Until the function it returns is
// called [Session.Compact] fails (FEATURES T3). Hosts that never call it have
// turns of one call each.
func (s *Session) BeginTurn() (end func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turns++
	ended := false
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !ended {
			s.turns--
		}
		ended = true
	}
}

// Request asks for a compaction when the turn is over, with what should be kept
// in view. It may be called at any time, by tools and by plugins of the host's
// own; all requests of a turn come to one (FEATURES T2, O4).
func (s *Session) Request(instructions string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wanted = append(s.wanted, strings.TrimSpace(instructions))
}

// Compact compacts the session now, whatever the thresholds say (FEATURES I5,
// T3, T8, K26). While a turn runs it fails at once, with the code busy. Of the
// request it takes Target, Overrides, DryRun and Instructions.
func (s *Session) Compact(ctx context.Context, with kagewasm.Request) (*kagewasm.Result, error) {
	if err := s.idle(); err != nil {
		return nil, err
	}
	defer s.release()
	if err := s.awaited(); err != nil {
		return nil, err
	}
	req := s.request(abi.TriggerManual)
	req.Force = true
	req.Target, req.Overrides, req.DryRun, req.Instructions = with.Target, with.Overrides, with.DryRun, with.Instructions
	return s.look(ctx, req)
}

// idle takes the place of whoever calls the model, if nobody is at work.
func (s *Session) idle() error {
	busy := &abi.Error{Code: abi.CodeBusy, Op: "compact", Message: "a turn is running", Hint: "compact when it has ended, or ask for it with Session.Request"}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turns > 0 {
		return busy
	}
	select {
	case s.calling <- struct{}{}:
		return nil
	default:
		return busy
	}
}

// EndOfTurn is to be called when a turn has completed successfully. Plugins
// hear of it; a compaction that they, a tool or the host asked for, or that the
// threshold or idleness calls for, runs then: in the background where the
// policy says so, else before EndOfTurn returns (FEATURES T1, T2, O4, I6). The
// result is nil where none ran.
func (s *Session) EndOfTurn(ctx context.Context) (*kagewasm.Turn, *kagewasm.Result, error) {
	turn, err := s.c.TurnEnd(ctx, s.request(abi.TriggerThreshold))
	if err != nil {
		return nil, nil, err
	}
	if turn.Wanted != nil && turn.Wanted.Reason == abi.TriggerPlugin {
		s.Request(turn.Wanted.Instructions)
	}
	req, asked := s.wish()
	if turn.Background {
		s.background(ctx, req, asked)
		return turn, nil, nil
	}
	if asked == 0 && turn.Wanted == nil {
		return turn, nil, nil
	}
	if err := s.acquire(ctx); err != nil {
		return turn, nil, err
	}
	defer s.release()
	if err := s.awaited(); err != nil {
		return turn, nil, err
	}
	if asked == 0 {
		req.Reason = abi.TriggerThreshold
	}
	result, err := s.grant(req, asked, func(req kagewasm.Request) (*kagewasm.Result, error) { return s.look(ctx, req) })
	return turn, result, err
}

// wish is the one compaction that answers all that were asked for, and how many
// these are. What was asked for stays until one ran.
func (s *Session) wish() (req kagewasm.Request, asked int) {
	req = s.request(abi.TriggerIdle)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.wanted) > 0 {
		req.Reason, req.Force = abi.TriggerPlugin, true
	}
	said := slices.DeleteFunc(slices.Clone(s.wanted), func(w string) bool { return w == "" })
	req.Instructions = strings.Join(said, "\n")
	return req, len(s.wanted)
}

// grant looks at the session, and forgets what was asked for before it if the
// look was not in vain.
func (s *Session) grant(req kagewasm.Request, asked int, look func(kagewasm.Request) (*kagewasm.Result, error)) (*kagewasm.Result, error) {
	result, err := look(req)
	switch abi.CodeOf(err) {
	case "", abi.CodeExceedsWindow:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.wanted = s.wanted[min(asked, len(s.wanted)):]
	}
	return result, err
}

// Pending is the compaction that waits for the operator, or nil (FEATURES K29).
func (s *Session) Pending() *Checkpoint {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pending
}

// Approve applies the compaction that waits, exactly as it was shown; what
// arrived since stays. Where the session changed otherwise the error has the
// code conflict and the checkpoint is dropped: the next look makes a new one.
func (s *Session) Approve(ctx context.Context, id string) (*kagewasm.Result, error) {
	cp, err := s.decided(id)
	if err != nil {
		return nil, err
	}
	result, err := s.apply(ctx, cp)
	if err == nil || abi.CodeOf(err) == abi.CodeConflict {
		s.drop(cp)
	}
	return result, err
}

func (s *Session) apply(ctx context.Context, cp *Checkpoint) (*kagewasm.Result, error) {
	req, shown := cp.req, kagewasm.Result{Messages: cp.Messages, Report: cp.Report, Record: cp.Record}
	now := s.Messages()
	var err error
	if shown.Messages, err = Swap(&shown, req.Messages, now); err != nil {
		return nil, err
	}
	req.Messages = now
	req.Commit = func(ctx context.Context, r *kagewasm.Result) error { return s.keep(ctx, now, r) }
	return s.c.Commit(ctx, req, &shown)
}

// quietShare is how much of the window a session has to grow by before another
// compaction is proposed where one was rejected.
const quietShare = 0.05

// Reject drops the compaction that waits, and the session goes on as it is.
// Another one is proposed when it has grown by a twentieth of the window, or
// does not fit any more.
func (s *Session) Reject(id, why string) error {
	cp, err := s.decided(id)
	if err != nil {
		return err
	}
	s.rejected(cp, "rejected by the operator: "+why)
	s.drop(cp)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.quiet = cp.Report.TokensBefore + int(quietShare*float64(cp.Report.Window))
	return nil
}

func (s *Session) decided(id string) (*Checkpoint, error) {
	if cp := s.Pending(); cp != nil && cp.ID == id {
		return cp, nil
	}
	return nil, usage("compaction %q: it does not wait for a decision", id)
}

// rejected notes that a checkpoint came to nothing.
func (s *Session) rejected(cp *Checkpoint, why string) {
	s.c.Reject(s.id, &kagewasm.Result{Report: cp.Report, Record: cp.Record}, why)
}

func (s *Session) drop(cp *Checkpoint) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pending == cp {
		s.pending = nil
	}
}

// AnswerTool answers a call of one of the agent's tools, see [Tools]; ok is
// false for a tool that is not one of them (FEATURES I5, N9).
func (s *Session) AnswerTool(name, arguments string, opts ToolOptions) (content string, ok bool, err error) {
	return AnswerTool(s, name, arguments, opts)
}
