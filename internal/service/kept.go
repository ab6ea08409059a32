package service

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store"
)

// turnTime is how long a turn may be open that an earlier process began: whoever began it
// may have ended with that process.
const turnTime = 12 * time.Hour

// keptTurn is a turn in the store.
type keptTurn struct {
	Begun time.Time `json:"begun"`
}

func (s *core) keepTurn(ctx context.Context, key, id string) error {
	value, err := json.Marshal(keptTurn{time.Now().UTC()})
	if err != nil {
		return err
	}
	k := store.Kept{Kind: store.KeptTurn, Owner: key, Name: id, Value: value}
	return s.store.Update(ctx, func(tx *store.Tx) error { return k.Keep(ctx, tx) })
}

func (s *core) dropTurns(ctx context.Context, key string, ids ...string) error {
	return s.store.Update(ctx, func(tx *store.Tx) error {
		for _, id := range ids {
			if err := (store.Kept{Kind: store.KeptTurn, Owner: key, Name: id}).Drop(ctx, tx); err != nil {
				return err
			}
		}
		return nil
	})
}

// resume takes over what an earlier process knew of a session: the turns that are open, and
// what the agent asked for. The caller holds the lock of the session.
func (s *core) resume(ctx context.Context, l *live) error {
	turns, err := s.store.Kept(ctx, store.KeptTurn, l.key)
	if err != nil {
		return err
	}
	var old []string
	for _, k := range turns {
		var t keptTurn
		if json.Unmarshal(k.Value, &t) != nil || time.Since(t.Begun) > turnTime {
			old = append(old, k.Name)
		} else if l.turns[k.Name] == nil {
			l.turns[k.Name] = func() {} // until it is opened
		}
	}
	if len(old) > 0 {
		if err := s.dropTurns(ctx, l.key, old...); err != nil {
			return err
		}
	}
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
		if err := k.Drop(ctx, tx); err != nil {
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
