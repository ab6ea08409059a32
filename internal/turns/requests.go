package turns

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/store"
)

// Request is a compaction that the agent of a stored session, or a plugin, asked for, and that waits for the end of a
// turn.
type Request struct {
	name string // in the store, by which requests are in order
	hooks.Wish
}

// request is one of a session as the store has it.
func request(key, name string) store.Kept {
	return store.Kept{Kind: store.KeptRequest, Owner: key, Name: name}
}

// reader reads what is kept: a store, or a change of it.
type reader interface {
	Kept(ctx context.Context, kind string, owners ...string) ([]store.Kept, error)
}

// Requests are those of a session that nobody has answered, oldest first.
func Requests(ctx context.Context, s reader, key string) (list []Request, err error) {
	kept, err := s.Kept(ctx, store.KeptRequest, key)
	for _, k := range kept {
		r := Request{name: k.Name}
		if json.Unmarshal(k.Value, &r.Wish) == nil || json.Unmarshal(k.Value, &r.Instructions) == nil { // as it was once
			list = append(list, r)
		}
	}
	return list, err
}

// AnyRequests reports whether any session has requests that nobody has answered.
func AnyRequests(ctx context.Context, s *store.Store) (bool, error) {
	kept, err := s.Kept(ctx, store.KeptRequest)
	return len(kept) > 0, err
}

// stamped begins the name of a request that is made at a time.
func stamped(t time.Time) string { return t.UTC().Format("20060102T150405.000000000Z") }

// Ask has requests of a session kept, and drops those that were answered. Others stay: another process may have added
// them.
func Ask(
	ctx context.Context, s *store.Store, key string, wishes []hooks.Wish, answered ...Request,
) (asked []Request, err error) {
	now := stamped(time.Now())
	err = s.Update(ctx, func(tx *store.Tx) error {
		asked = nil
		for _, r := range answered {
			if _, err := request(key, r.name).Drop(ctx, tx); err != nil {
				return err
			}
		}
		there, err := Requests(ctx, tx, key)
		if err != nil {
			return err
		}
		for i, w := range wishes {
			if i := slices.IndexFunc(there, func(r Request) bool { return w.Repeats(r.Wish) }); i >= 0 {
				asked = append(asked, there[i])
				continue
			}
			k := request(key, fmt.Sprintf("%s-%04d-%s", now, i, rand.Text()[:8]))
			if k.Value, err = json.Marshal(w); err != nil {
				return err
			}
			if err := k.Keep(ctx, tx); err != nil {
				return err
			}
			r := Request{k.Name, w}
			there, asked = append(there, r), append(asked, r)
		}
		return nil
	})
	return asked, err
}

// Answers reports whether a look at a session has done what was asked for before it: it compacted, or it was a look for
// that and did not fail.
func Answers(reason abi.TriggerReason, compacted bool, err error) bool {
	code := abi.CodeOf(err)
	return compacted || (reason == abi.TriggerPlugin || reason == abi.TriggerAgent) &&
		(code == "" || code == abi.CodeExceedsWindow)
}

// Looked says that a session was looked at since a time, and what was asked for meanwhile. Where the look has answered
// what was asked for before, that is dropped.
func Looked(
	ctx context.Context, s *store.Store, key string, since time.Time, answers bool, wishes []hooks.Wish,
) error {
	var before []Request
	if answers {
		list, err := Requests(ctx, s, key)
		if err != nil {
			return err
		}
		before = lists.Filter(list, func(r Request) bool { return r.name < stamped(since) })
	}
	if len(before)+len(wishes) == 0 {
		return nil
	}
	_, err := Ask(ctx, s, key, wishes, before...)
	return err
}

// Same reports whether two are one request.
func (r Request) Same(other Request) bool { return r.name == other.name }
