package abi

import "context"

// KV is the storage of plugins: text under keys, apart for every namespace. A
// namespace satisfies [ValidNamespace], a key [CheckKey]. Package store has
// implementations.
//
// Implementations are safe for concurrent use. The code of an [*Error] reaches
// the plugin; any other error reaches it as a mere [CodeInternal].
//
// A KV may also have a method Swap(ctx, ns, key, expect, value) error. In one
// step it sets the value where the key holds expect ("" also means no value),
// and fails with [CodeConflict] otherwise. Without it the runtime compares and
// sets under a lock of its own, which keeps out only its own plugins.
type KV interface {
	Get(ctx context.Context, ns, key string) (value string, found bool, err error)
	Set(ctx context.Context, ns, key, value string) error
	Delete(ctx context.Context, ns, key string) error
	// List returns the keys that begin with prefix, sorted.
	List(ctx context.Context, ns, prefix string) ([]string, error)
}
