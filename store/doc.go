// Package store keeps what has to last. So far that is the plugins' own
// storage: [OpenKV] keeps it as a folder of plain files, [MemoryKV] in memory.
//
// Both refuse, with an [abi.Error]: namespaces and keys that are none
// (CodeUsage), values and namespaces over their quota (CodeQuota), and values
// that are not text (CodeUsage; CodeBadInput where a file was edited into
// that).
package store
