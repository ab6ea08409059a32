package abi

import "context"

// KV is the storage of plugins: text under keys, apart for every namespace. A
// namespace satisfies [ValidNamespace], a key [CheckKey]. Package store has
// implementations.
//
// Implementations are safe for concurrent use. The code of an [*Error] reaches
// the plugin; any other error reaches it as a mere [CodeInternal].
//
// A KV may have a method Swap(ctx, ns, key, expect, value) error beside these:
// Set in one step where the key holds expect, "" being no value as well, and an
// error of [CodeConflict] otherwise. Where there is none, the runtime makes one
// step of both for its own plugins alone.
type KV interface {
	Get(ctx context.Context, ns, key string) (value string, found bool, err error)
	Set(ctx context.Context, ns, key, value string) error
	Delete(ctx context.Context, ns, key string) error
	// List returns the keys that begin with prefix, sorted.
	List(ctx context.Context, ns, prefix string) ([]string, error)
}
