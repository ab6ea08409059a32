package host

import (
	"context"

	"github.com/kagewasm/kagewasm/abi"
)

// Services are what a host has for all of its plugins. What is nil is denied.
type Services struct {
	kv      storage
	counter abi.Counter
	model   abi.Model
	lines   lock // who looks at lines of modules; see Plugin.Namespace
}

// NewServices are the services that a host has; each may be nil.
func NewServices(kv abi.KV, counter abi.Counter, model abi.Model) *Services {
	s := &Services{counter: counter, model: model, lines: make(lock, 1)}
	switch kv := kv.(type) {
	case nil:
	case storage:
		s.kv = kv
	default:
		s.kv = &stepwise{KV: kv, lock: make(lock, 1)}
	}
	return s
}

// storage is a KV that compares and sets in one step.
type storage interface {
	abi.KV
	Swap(ctx context.Context, ns, key, expect, value string) error
}

// stepwise makes a storage of a KV that cannot swap. One change is made at a
// time, so that none comes between what a swap reads and what it stores.
type stepwise struct {
	abi.KV
	lock lock
}

// Swap implements storage.
func (s *stepwise) Swap(ctx context.Context, ns, key, expect, value string) error {
	return s.lock.with(ctx, func() error {
		switch now, _, err := s.Get(ctx, ns, key); {
		case err != nil:
			return err
		case now != expect:
			return abi.KeyConflict(key)
		}
		return s.KV.Set(ctx, ns, key, value)
	})
}

// Set implements abi.KV.
func (s *stepwise) Set(ctx context.Context, ns, key, value string) error {
	return s.lock.with(ctx, func() error { return s.KV.Set(ctx, ns, key, value) })
}

// Delete implements abi.KV.
func (s *stepwise) Delete(ctx context.Context, ns, key string) error {
	return s.lock.with(ctx, func() error { return s.KV.Delete(ctx, ns, key) })
}

// lock is a mutex that is waited for until a context ends. It has room for one.
type lock chan struct{}

func (l lock) with(ctx context.Context, f func() error) error {
	select {
	case l <- struct{}{}:
		defer func() { <-l }()
		return f()
	case <-ctx.Done():
		return ctx.Err()
	}
}
