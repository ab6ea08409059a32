package turns

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"time"

	"github.com/kagewasm/kagewasm/store"
)

// Request is a compaction that the agent of a stored session asked for, and that waits for the end of a turn.
type Request struct {
	name string // in the store, by which requests are in order
	// Said is what the agent wants kept in view.
	Said string
}

// request is one of a session as the store has it.
func request(key, name string) store.Kept {
	return store.Kept{Kind: store.KeptRequest, Owner: key, Name: name}
}

// Requests are those of a session that nobody has answered, oldest first.
func Requests(ctx context.Context, s *store.Store, key string) (list []Request, err error) {
	kept, err := s.Kept(ctx, store.KeptRequest, key)
	for _, k := range kept {
		r := Request{name: k.Name}
		if json.Unmarshal(k.Value, &r.Said) == nil {
			list = append(list, r)
		}
	}
	return list, err
}

// Ask adds requests of a session, and drops those that were answered. Others stay: another process may have added them.
func Ask(
	ctx context.Context, s *store.Store, key string, said []string, answered ...Request,
) (added []Request, err error) {
	now := time.Now().UTC().Format("20060102T150405.000000000Z")
	err = s.Update(ctx, func(tx *store.Tx) error {
		added = nil
		for _, r := range answered {
			if _, err := request(key, r.name).Drop(ctx, tx); err != nil {
				return err
			}
		}
		for i, text := range said {
			k := request(key, fmt.Sprintf("%s-%04d-%s", now, i, rand.Text()[:8]))
			if k.Value, err = json.Marshal(text); err != nil {
				return err
			}
			if err := k.Keep(ctx, tx); err != nil {
				return err
			}
			added = append(added, Request{k.Name, text})
		}
		return nil
	})
	return added, err
}

// Same reports whether two are one request.
func (r Request) Same(other Request) bool { return r.name == other.name }
