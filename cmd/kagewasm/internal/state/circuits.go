package state

import (
	"context"
	"encoding/json"
	"reflect"
	"sync"

	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/store"
)

// Circuits is what breakers know of plugins, as a store keeps it for the next process.
type Circuits struct {
	mu    sync.Mutex
	known map[string]hooks.Circuit // as they are stored, by digest
}

// ReadCircuits reads what a store has.
func ReadCircuits(ctx context.Context, s *store.Store) ([]hooks.Circuit, error) {
	kept, err := s.Kept(ctx, store.KeptCircuit, "")
	if err != nil {
		return nil, err
	}
	var list []hooks.Circuit
	for _, k := range kept {
		var c hooks.Circuit
		if json.Unmarshal(k.Value, &c) == nil && c.Digest == k.Name { // what is damaged is as good as nothing
			list = append(list, c)
		}
	}
	return list, nil
}

// Restore has a breaker go on with what a store has.
func (c *Circuits) Restore(ctx context.Context, s *store.Store, b *hooks.Breaker) error {
	list, err := ReadCircuits(ctx, s)
	b.Restore(list)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known = make(map[string]hooks.Circuit, len(list))
	for _, k := range list {
		c.known[k.Digest] = k
	}
	return err
}

// News reports whether a breaker knows what is not stored.
func (c *Circuits) News(b *hooks.Breaker) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.news(b)) > 0
}

// news are the circuits that are not stored as they are now.
func (c *Circuits) news(b *hooks.Breaker) (list []hooks.Circuit) {
	for _, now := range b.Circuits() {
		was, known := c.known[now.Digest]
		if known && sameCircuit(&was, &now) || !known && len(now.ByHook) == 0 {
			continue
		}
		list = append(list, now)
	}
	return list
}

// sameCircuit reports whether two circuits mean the same for who goes on with them.
func sameCircuit(a, b *hooks.Circuit) bool {
	until := a.OpenUntil == nil && b.OpenUntil == nil || a.OpenUntil != nil && b.OpenUntil != nil &&
		a.OpenUntil.Equal(*b.OpenUntil)
	return until && a.Hook == b.Hook && a.Trips == b.Trips && (len(a.ByHook)+len(b.ByHook) == 0 ||
		reflect.DeepEqual(a.ByHook, b.ByHook))
}

// Keep stores what a breaker has learned.
func (c *Circuits) Keep(ctx context.Context, s *store.Store, b *hooks.Breaker) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.news(b)
	if len(list) == 0 {
		return nil
	}
	err := s.Update(ctx, func(tx *store.Tx) error {
		for i := range list {
			value, err := json.Marshal(&list[i])
			if err != nil {
				return err
			}
			k := store.Kept{Kind: store.KeptCircuit, Name: list[i].Digest, Value: value}
			if err := k.Keep(ctx, tx); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if c.known == nil {
		c.known = make(map[string]hooks.Circuit)
	}
	for _, k := range list {
		c.known[k.Digest] = k
	}
	return nil
}

// DropCircuit forgets what is stored of a plugin.
func DropCircuit(ctx context.Context, s *store.Store, digest string) error {
	return s.Update(ctx, func(tx *store.Tx) error {
		_, err := store.Kept{Kind: store.KeptCircuit, Name: digest}.Drop(ctx, tx)
		return err
	})
}
