package session

import (
	"cmp"
	"context"

	kagewasm "github.com/kagewasm/kagewasm"
)

// Handoff opens a session that takes over from this one. It begins with what is pinned here and a
// summary of all else. The full model writes the summary, and keeps the instructions in view; where
// that fails, the summary is what can be read off the session. The messages that it stands for are
// stored in the new session too: they can be recalled there, and rolled back to. This session stays as
// it is.
//
// Of the options only the session's id is needed. Agent, model, window, overhead and TooLong are
// otherwise those of this session. It is a usage error if the new session has messages already. Other
// errors are those of [Session.Compact]: the new session is then as long as this one, and can be
// compacted.
func (s *Session) Handoff(ctx context.Context, to Options, instructions string) (*Session, *kagewasm.Result, error) {
	from := s.state.request("")
	to.Session.AgentPath = cmp.Or(to.Session.AgentPath, from.Session.AgentPath)
	to.Session.Model = cmp.Or(to.Session.Model, from.Session.Model)
	to.Session.ContextWindow = cmp.Or(to.Session.ContextWindow, from.Session.ContextWindow)
	to.Overhead = cmp.Or(to.Overhead, from.Overhead)
	if to.TooLong == nil {
		to.TooLong = s.tooLong
	}
	next, err := Open(ctx, s.compactor, to)
	if err != nil {
		return nil, nil, err
	}
	if len(next.All()) > 0 {
		return nil, nil, usage("hand-over", "session %q is not a new one: it has messages", to.Session.ID)
	}
	if err := next.Append(ctx, from.Messages...); err != nil {
		return nil, nil, err
	}
	nothing := 0
	result, err := next.Compact(ctx, kagewasm.Request{Target: &nothing, Instructions: instructions,
		Overrides: &kagewasm.Overrides{Strategy: kagewasm.StrategySummarize}})
	return next, result, err
}
