// Package pick finds the stored session that somebody means: [Find] by what they call it, [Nearest] by where
// they are.
package pick

import (
	"context"
	"strings"

	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/store"
)

// page is how many sessions are read at once.
const page = 500

// Find is the session that a person means by an id: its key, its id, the beginning of
// one, or the compaction that waits in it.
func Find(ctx context.Context, s *store.Store, id string) (*store.Session, error) {
	if one, err := s.Session(ctx, id); err == nil {
		return one, nil
	}
	var found, begins []store.Session
	err := each(ctx, s, func(one store.Session) bool {
		switch {
		case one.ID == id, one.Pending != "" && one.Pending == id:
			found = append(found, one)
		case id != "" && strings.HasPrefix(one.Key, id):
			begins = append(begins, one)
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		found = begins
	}
	switch len(found) {
	case 0:
		return nil, ui.Usagef("session %q: none of that id is stored: kagewasm sessions lists them", id)
	case 1:
		return &found[0], nil
	}
	keys := lists.Map(found, func(one store.Session) string { return one.Key })
	return nil, ui.Usagef("session %q: it may be %s: give one of them", id, strings.Join(keys, " or "))
}

// each calls do for all sessions, the one that changed last first, until it says that this is enough.
func each(ctx context.Context, s *store.Store, do func(store.Session) bool) error {
	for next, first := "", true; first || next != ""; first = false {
		list, after, err := s.Sessions(ctx, next, page)
		if err != nil {
			return err
		}
		for _, one := range list {
			if !do(one) {
				return nil
			}
		}
		next = after
	}
	return nil
}
