// Package kv is the storage of plugins: text under keys, in namespaces. [Open]
// keeps it as a folder of plain files, [NewMemory] in memory.
//
// Both refuse, with an [abi.Error]: namespaces and keys that are none
// (CodeUsage), values and namespaces over their quota (CodeQuota), and values
// that are not text (CodeUsage; CodeBadInput where a file was edited into
// that).
package kv
