package survey

import (
	"context"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/runtime"
	"github.com/kagewasm/kagewasm/store"
)

// KV is the storage of plugins in surveys, for [runtime.Options]: each session
// has its own, which is empty in the beginning and gone in the end. Outside of
// a survey there is none, and calls are denied.
func KV() runtime.KV { return memories{} }

// memories finds the memory of a session in the context of the call.
type memories struct{}

type memoryKey struct{}

func withMemory(ctx context.Context) context.Context {
	return context.WithValue(ctx, memoryKey{}, store.MemoryKV(store.KVOptions{}))
}

func memoryOf(ctx context.Context) (*store.Memory, error) {
	if m, ok := ctx.Value(memoryKey{}).(*store.Memory); ok {
		return m, nil
	}
	return nil, &abi.Error{Code: abi.CodeDenied, Op: "kv", Message: "there is storage in surveys alone"}
}

func (memories) Get(ctx context.Context, ns, key string) (string, bool, error) {
	m, err := memoryOf(ctx)
	if err != nil {
		return "", false, err
	}
	return m.Get(ctx, ns, key)
}

func (memories) Set(ctx context.Context, ns, key, value string) error {
	m, err := memoryOf(ctx)
	if err != nil {
		return err
	}
	return m.Set(ctx, ns, key, value)
}

func (memories) Delete(ctx context.Context, ns, key string) error {
	m, err := memoryOf(ctx)
	if err != nil {
		return err
	}
	return m.Delete(ctx, ns, key)
}

func (memories) List(ctx context.Context, ns, prefix string) ([]string, error) {
	m, err := memoryOf(ctx)
	if err != nil {
		return nil, err
	}
	return m.List(ctx, ns, prefix)
}
