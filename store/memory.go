package store

import (
	"context"
	"slices"
	"strings"
	"sync"
)

// Memory is a KV that keeps nothing beyond the process: for tests, dry runs
// and hosts that want no files. Its methods are those of [KV], safe for
// concurrent use.
type Memory struct {
	opts KVOptions
	mu   sync.RWMutex
	data map[string]*memorySpace
}

type memorySpace struct {
	values map[string]string
	used   usage
}

// MemoryKV returns an empty KV in memory.
func MemoryKV(opts KVOptions) *Memory {
	return &Memory{opts: opts.WithDefaults(), data: make(map[string]*memorySpace)}
}

// Get returns the value under key and whether there is one.
func (m *Memory) Get(ctx context.Context, ns, key string) (string, bool, error) {
	if err := checkCall(ctx, "get", ns, key); err != nil {
		return "", false, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	v, ok := m.space(ns).values[key]
	return v, ok, nil
}

// space is what is stored in a namespace; of one without values it is new.
func (m *Memory) space(ns string) *memorySpace {
	if s := m.data[ns]; s != nil {
		return s
	}
	return &memorySpace{values: make(map[string]string)}
}

// Set stores value under key.
func (m *Memory) Set(ctx context.Context, ns, key, value string) error {
	return m.set(ctx, ns, key, nil, value)
}

// Swap stores value under key where the key holds expect now, "" being no value
// as well: CodeConflict otherwise.
func (m *Memory) Swap(ctx context.Context, ns, key, expect, value string) error {
	return m.set(ctx, ns, key, &expect, value)
}

func (m *Memory) set(ctx context.Context, ns, key string, expect *string, value string) error {
	if err := checkCall(ctx, "set", ns, key); err != nil {
		return err
	}
	if err := m.opts.checkValue(value); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.space(ns)
	old := int64(-1)
	v, ok := s.values[key]
	if ok {
		old = int64(len(v))
	}
	if expect != nil && v != *expect {
		return conflict(key)
	}
	used := s.used.after(old, int64(len(value)))
	if err := m.opts.check(s.used, used); err != nil {
		return err
	}
	s.values[key], s.used, m.data[ns] = value, used, s
	return nil
}

// Delete removes key. A key that is not there is no error.
func (m *Memory) Delete(ctx context.Context, ns, key string) error {
	if err := checkCall(ctx, "delete", ns, key); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.space(ns)
	if v, ok := s.values[key]; ok {
		s.used = s.used.after(int64(len(v)), -1)
		delete(s.values, key)
	}
	return nil
}

// List returns the keys that begin with prefix, sorted.
func (m *Memory) List(ctx context.Context, ns, prefix string) ([]string, error) {
	if err := checkCall(ctx, "list", ns, ""); err != nil {
		return nil, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	var keys []string
	for k := range m.space(ns).values {
		if strings.HasPrefix(k, prefix) {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return keys, nil
}

// Clear forgets all values of all namespaces.
func (m *Memory) Clear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.data)
}

// Close does nothing.
func (m *Memory) Close() error { return nil }
