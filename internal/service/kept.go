package service

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store"
)

// resume takes over what an earlier process knew that the agent of a session asked for. The caller holds the lock of
// the session.
func (s *core) resume(ctx context.Context, l *live) error {
	requests, err := s.store.Kept(ctx, store.KeptRequest, l.key)
	if err != nil {
		return err
	}
	l.wishes = nil
	for _, k := range requests {
		var said string
		if json.Unmarshal(k.Value, &said) == nil {
			l.wishes = append(l.wishes, said)
		}
	}
	return nil
}

// keepRequests keeps what the agent asked for, where that has changed. What cannot be kept
// holds for this process all the same, so that is logged alone.
func (s *core) keepRequests(ctx context.Context, l *live, open *session.Session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := open.Requested()
	if l.session != open || slices.Equal(now, l.wishes) {
		return
	}
	ctx = context.WithoutCancel(ctx)
	err := s.store.Update(ctx, func(tx *store.Tx) error {
		k := store.Kept{Kind: store.KeptRequest, Owner: l.key}
		if _, err := k.Drop(ctx, tx); err != nil {
			return err
		}
		for i, said := range now {
			value, err := json.Marshal(said)
			if err != nil {
				return err
			}
			k.Name, k.Value = fmt.Sprintf("%06d", i), value
			if err := k.Keep(ctx, tx); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		s.opts.Log.Error("what an agent asked for is not kept", "session", l.key, "error", err)
		return
	}
	l.wishes = now
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
