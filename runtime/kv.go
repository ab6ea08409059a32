package runtime

import (
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/abi"
)

// overlay holds what a dry run has stored: the call sees it, nobody else does.
// A nil value is a deleted key.
type overlay map[string]*string

func (c *call) kvGet(ctx context.Context, r abi.KVRequest) (any, error) {
	if err := c.kvCheck(r.Key); err != nil {
		return nil, err
	}
	if value, ok := c.kv[r.Key]; ok {
		if value == nil {
			return abi.KVResponse{}, nil
		}
		return abi.KVResponse{Found: true, Value: *value}, nil
	}
	ns, err := c.namespace(ctx)
	if err != nil {
		return nil, err
	}
	value, found, err := c.plugin.runtime.kv.Get(ctx, ns, r.Key)
	return abi.KVResponse{Found: found, Value: value}, err
}

func (c *call) kvSet(ctx context.Context, r abi.KVRequest) (any, error) {
	if err := c.kvCheck(r.Key); err != nil {
		return nil, err
	}
	if c.dryRun() {
		if r.Expect != nil {
			now, err := c.kvGet(ctx, abi.KVRequest{Key: r.Key})
			if err != nil {
				return nil, err
			}
			if now.(abi.KVResponse).Value != *r.Expect {
				return nil, abi.KeyConflict(r.Key)
			}
		}
		return nil, c.overlay(r.Key, &r.Value)
	}
	ns, err := c.namespace(ctx)
	if err != nil {
		return nil, err
	}
	kv := c.plugin.runtime.kv
	if r.Expect != nil {
		return nil, c.plugin.runtime.swap(ctx, ns, r.Key, *r.Expect, r.Value)
	}
	return nil, c.plugin.runtime.change(ctx, func() error { return kv.Set(ctx, ns, r.Key, r.Value) })
}

// swapper is a KV that compares and sets in one step, whoever else writes.
type swapper interface {
	Swap(ctx context.Context, ns, key, expect, value string) error
}

// swap sets a value where the key holds expect.
func (r *Runtime) swap(ctx context.Context, ns, key, expect, value string) error {
	if s, ok := r.kv.(swapper); ok {
		return s.Swap(ctx, ns, key, expect, value)
	}
	return r.change(ctx, func() error {
		switch now, _, err := r.kv.Get(ctx, ns, key); {
		case err != nil:
			return err
		case now != expect:
			return abi.KeyConflict(key)
		}
		return r.kv.Set(ctx, ns, key, value)
	})
}

// change makes a change, of which there is one at a time where the KV cannot
// swap: none comes between what a swap reads and what it stores.
func (r *Runtime) change(ctx context.Context, make func() error) error {
	if _, ok := r.kv.(swapper); ok {
		return make()
	}
	select {
	case r.changing <- struct{}{}:
		defer func() { <-r.changing }()
		return make()
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *call) kvDelete(ctx context.Context, r abi.KVRequest) (any, error) {
	if err := c.kvCheck(r.Key); err != nil {
		return nil, err
	}
	if c.dryRun() {
		return nil, c.overlay(r.Key, nil)
	}
	ns, err := c.namespace(ctx)
	if err != nil {
		return nil, err
	}
	kv := c.plugin.runtime.kv
	return nil, c.plugin.runtime.change(ctx, func() error { return kv.Delete(ctx, ns, r.Key) })
}

func (c *call) kvList(ctx context.Context, r abi.KVRequest) (any, error) {
	if err := c.kvAllowed(); err != nil {
		return nil, err
	}
	if len(r.Key) > abi.MaxKeyBytes || !utf8.ValidString(r.Key) || strings.ContainsFunc(r.Key, unicode.IsControl) {
		return nil, &abi.Error{Code: abi.CodeUsage, Message: "key: not the beginning of a key"}
	}
	ns, err := c.namespace(ctx)
	if err != nil {
		return nil, err
	}
	keys, err := c.plugin.runtime.kv.List(ctx, ns, r.Key)
	if err != nil {
		return nil, err
	}
	return abi.KVResponse{Keys: c.kv.merge(keys, r.Key)}, nil
}

// merge returns the keys as the dry run has left them.
func (o overlay) merge(keys []string, prefix string) []string {
	if len(o) == 0 {
		return keys
	}
	keys = slices.DeleteFunc(slices.Clone(keys), func(k string) bool { _, ok := o[k]; return ok })
	for k, value := range o {
		if value != nil && strings.HasPrefix(k, prefix) {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return keys
}

// overlay keeps a value for the rest of a dry run, in the memory of the call.
func (c *call) overlay(key string, value *string) error {
	n := overlayCost(key, value)
	if old, ok := c.kv[key]; ok {
		n -= overlayCost(key, old)
	}
	if !c.memory.take(n) {
		return &abi.Error{Code: abi.CodeQuota, Message: "a dry run stores in the memory of the call, which is used up"}
	}
	if c.kv == nil {
		c.kv = make(overlay)
	}
	c.kv[key] = value
	return nil
}

func overlayCost(key string, value *string) int64 {
	n := int64(len(key)) + 2*blockOverhead
	if value != nil {
		n += int64(len(*value))
	}
	return n
}

func (c *call) kvCheck(key string) error {
	if err := c.kvAllowed(); err != nil {
		return err
	}
	if err := abi.CheckKey(key); err != nil {
		return &abi.Error{Code: abi.CodeUsage, Message: err.Error()}
	}
	return nil
}

func (c *call) kvAllowed() error {
	if err := c.need(abi.CapKV); err != nil {
		return err
	}
	if c.plugin.runtime.kv == nil {
		return &abi.Error{Code: abi.CodeDenied, Message: "this host has no storage"}
	}
	return nil
}

func (c *call) dryRun() bool {
	in := c.parsedInput()
	return in != nil && in.Trigger.DryRun
}
