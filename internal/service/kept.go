package service

import (
	"context"
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/turns"
	"github.com/kagewasm/kagewasm/session"
)

// hear tells the open session what its agent or plugins asked for at another process. The caller holds l.mu.
func (l *live) hear(requests []turns.Request) {
	if l.session == nil {
		return
	}
	for _, r := range requests {
		if !slices.ContainsFunc(l.wishes, r.Same) {
			l.session.Request(r.Wish)
			l.wishes = append(l.wishes, r)
		}
	}
}

// keepRequests keeps what the agent and plugins asked for, where that has changed. What cannot be kept
// holds for this process all the same, so that is logged alone.
func (s *core) keepRequests(ctx context.Context, l *live, open *session.Session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := open.Requested()
	n := answered(l.wishes, now)
	left := l.wishes[n:]
	if l.session != open || n == 0 && len(left) == len(now) {
		return
	}
	gone := lists.Filter(l.wishes[:n], func(r turns.Request) bool { return !slices.ContainsFunc(left, r.Same) })
	asked, err := turns.Ask(context.WithoutCancel(ctx), s.store, l.key, now[len(left):], gone...)
	if err != nil {
		s.opts.Log.Error("a compaction that was asked for is not kept", "session", l.key, "error", err)
		return
	}
	l.wishes = slices.Concat(left, asked)
}

// answered is how many of the requests that are kept a session has answered, which are the oldest. now are those that
// it has not.
func answered(kept []turns.Request, now []hooks.Wish) int {
	for n := range kept {
		left := kept[n:]
		if len(left) <= len(now) && slices.EqualFunc(left, now[:len(left)], func(r turns.Request, w hooks.Wish) bool {
			return r.Wish == w
		}) {
			return n
		}
	}
	return len(kept)
}

// ResetBreaker has a plugin called again that failed too often.
func (s *operator) ResetBreaker(ctx context.Context, name string) error {
	p, err := s.plugin(ctx, name)
	if err != nil {
		return err
	}
	if p.Error != "" {
		return &abi.Error{Code: abi.CodeUsage, Op: "breaker", Plugin: name,
			Message: "the plugin cannot be loaded: " + p.Error}
	}
	if err := s.host.ResetBreaker(ctx, p.Digest); err != nil {
		return err
	}
	s.hub.publish(Event{Type: EventBreaker})
	return nil
}
