// Package turns knows which turns of a stored session are open, and which compactions its agent asked for that wait for
// the end of one. The store alone says so, for every process on it: whoever began a turn or asked, and whoever ended or
// answered it. To ask is a look-up by key.
package turns

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/store"
)

// longest is how long a turn is open that nobody ends: the agent that began it may be gone.
const longest = 12 * time.Hour

// turn is the value of one in the store.
type turn struct {
	Begun time.Time `json:"begun"`
}

// kept is a turn of a session as the store has it.
func kept(key, id string) store.Kept { return store.Kept{Kind: store.KeptTurn, Owner: key, Name: id} }

// Begin begins a turn of a session and returns its id. Turns that nobody ended are forgotten.
func Begin(ctx context.Context, s *store.Store, key string) (id string, err error) {
	_, over, err := all(ctx, s, key)
	if err != nil {
		return "", err
	}
	begun := kept(key, "turn-"+strings.ToLower(rand.Text()[:16]))
	if begun.Value, err = json.Marshal(turn{time.Now().UTC()}); err != nil {
		return "", err
	}
	return begun.Name, s.Update(ctx, func(tx *store.Tx) error {
		for _, id := range over {
			if _, err := kept(key, id).Drop(ctx, tx); err != nil {
				return err
			}
		}
		return begun.Keep(ctx, tx)
	})
}

// End ends a turn and reports whether it had begun and nobody had ended it. One that counts as over already may be
// ended: its agent is still there.
func End(ctx context.Context, s *store.Store, key, id string) (ended bool, err error) {
	if id == "" {
		return false, nil // which stands for all turns in the store
	}
	err = s.Update(ctx, func(tx *store.Tx) (err error) {
		ended, err = kept(key, id).Drop(ctx, tx)
		return err
	})
	return ended, err
}

// Open are the ids of the turns of a session that are open.
func Open(ctx context.Context, s *store.Store, key string) (ids []string, err error) {
	ids, _, err = all(ctx, s, key)
	return ids, err
}

// Any reports whether a turn of any session is open.
func Any(ctx context.Context, s *store.Store) (bool, error) {
	open, _, err := all(ctx, s)
	return len(open) > 0, err
}

// all are the turns of some sessions, or of all: those that are open, and those that nobody ended in time.
func all(ctx context.Context, s *store.Store, keys ...string) (open, over []string, err error) {
	list, err := s.Kept(ctx, store.KeptTurn, keys...)
	for _, k := range list {
		var t turn
		if json.Unmarshal(k.Value, &t) == nil && time.Since(t.Begun) <= longest {
			open = append(open, k.Name)
		} else {
			over = append(over, k.Name)
		}
	}
	return open, over, err
}

// Busy is the error of what has to wait for the end of a turn of a session, or of a call. op is what that is, hint what
// to do.
func Busy(op, key, hint string) error {
	return &abi.Error{Code: abi.CodeBusy, Op: op, Message: fmt.Sprintf("session %q: a turn is running", key), Hint: hint}
}
