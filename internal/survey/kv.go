package survey

import (
	"context"
	"slices"
	"sync"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/store/kv"
)

// KV is the storage of plugins in surveys, for the options of a runtime. Each session
// begins with what base holds, or with nothing where that is nil; what plugins
// store is gone with the session, and base stays as it is. Outside of a survey
// calls are denied.
func KV(base abi.KV) abi.KV {
	if base == nil {
		base = kv.NewMemory(kv.Options{})
	}
	return memories{base}
}

// memories finds the memory of a session in the context of the call.
type memories struct{ base abi.KV }

// memory holds what plugins stored in one session, over the base.
type memory struct {
	own  *kv.Memory
	mu   sync.Mutex
	gone map[place]bool // deleted since the session began
}

// place is a key in a namespace.
type place struct{ ns, key string }

type memoryKey struct{}

func withMemory(ctx context.Context) context.Context {
	return context.WithValue(ctx, memoryKey{}, &memory{own: kv.NewMemory(kv.Options{}), gone: make(map[place]bool)})
}

func memoryOf(ctx context.Context) (*memory, error) {
	if m, ok := ctx.Value(memoryKey{}).(*memory); ok {
		return m, nil
	}
	return nil, &abi.Error{Code: abi.CodeDenied, Op: "kv", Message: "there is storage in surveys alone"}
}

// isGone reports whether the key of the base was deleted. What was stored since
// is found before anybody asks.
func (m *memory) isGone(ns, key string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.gone[place{ns, key}]
}

func (s memories) Get(ctx context.Context, ns, key string) (string, bool, error) {
	m, err := memoryOf(ctx)
	if err != nil {
		return "", false, err
	}
	value, found, err := m.own.Get(ctx, ns, key)
	if found || err != nil || m.isGone(ns, key) {
		return value, found, err
	}
	return s.base.Get(ctx, ns, key)
}

func (memories) Set(ctx context.Context, ns, key, value string) error {
	m, err := memoryOf(ctx)
	if err != nil {
		return err
	}
	return m.own.Set(ctx, ns, key, value)
}

func (memories) Delete(ctx context.Context, ns, key string) error {
	m, err := memoryOf(ctx)
	if err != nil {
		return err
	}
	m.mu.Lock()
	m.gone[place{ns, key}] = true
	m.mu.Unlock()
	return m.own.Delete(ctx, ns, key)
}

func (s memories) List(ctx context.Context, ns, prefix string) ([]string, error) {
	m, err := memoryOf(ctx)
	if err != nil {
		return nil, err
	}
	own, err := m.own.List(ctx, ns, prefix)
	if err != nil {
		return nil, err
	}
	under, err := s.base.List(ctx, ns, prefix)
	if err != nil {
		return nil, err
	}
	own = append(own, lists.Filter(under, func(key string) bool { return !m.isGone(ns, key) })...)
	slices.Sort(own)
	return slices.Compact(own), nil
}
