// Package kv is the storage of plugins: text under keys, in namespaces. A [Table] keeps it in the
// database of a store (store.Store.Memory makes one), [Open] in a folder of plain files, [NewMemory] in
// memory. Then Get, Set, Swap and List.
//
// All refuse, with an [abi.Error]: namespaces and keys that are none (CodeUsage), values and namespaces
// over their quota (CodeQuota), and values that are not text (CodeUsage; CodeBadInput where a file was
// edited into that).
package kv
