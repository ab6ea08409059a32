package kv

import (
	"context"
	"slices"
	"strings"
	"sync"
)

// Memory is a storage that keeps nothing beyond the process: for tests, dry runs
// and hosts that want no files. Its methods are those of [Folder], safe for
// concurrent use.
type Memory struct {
	opts Options
	mu   sync.RWMutex
	data map[string]*memorySpace
}

type memorySpace struct {
	values map[string]string
	used   usage
}

// NewMemory returns an empty Memory.
func NewMemory(opts Options) *Memory {
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

// Swap stores value under key where the key holds expect now; "" also means no
// value. Otherwise the error is CodeConflict.
func (m *Memory) Swap(ctx context.Context, ns, key, expect, value string) error {
	return m.set(ctx, ns, key, &expect, value)
}

func (m *Memory) set(ctx context.Context, ns, key string, expect *string, value string) error {
	return m.Apply(ctx, ns, []Change{{Key: key, Value: value, Expect: expect}})
}

// Apply makes all the changes or none of them, as [Folder.Apply] does.
func (m *Memory) Apply(ctx context.Context, ns string, changes []Change) error {
	for i := range changes {
		if err := m.opts.checkChange(ctx, ns, &changes[i]); err != nil {
			return err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.space(ns)
	used := s.used
	for _, c := range changes {
		now, found := s.values[c.Key]
		if c.Expect != nil && now != *c.Expect {
			return conflict(c.Key)
		}
		old, size := int64(-1), int64(len(c.Value))
		if found {
			old = int64(len(now))
		}
		if c.Delete {
			size = -1
		}
		used = used.after(old, size)
	}
	used.disk = 0
	if err := m.opts.check(s.used, used); err != nil {
		return err
	}
	for _, c := range changes {
		if c.Delete {
			delete(s.values, c.Key)
		} else {
			s.values[c.Key] = c.Value
		}
	}
	s.used, m.data[ns] = used, s
	return nil
}

// Delete removes key. A key that is not there is no error.
func (m *Memory) Delete(ctx context.Context, ns, key string) error {
	return m.Apply(ctx, ns, []Change{{Key: key, Delete: true}})
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
