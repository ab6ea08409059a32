// Package abi is the contract between a kagewasm host and its plugins: every
// document that crosses JSON or WebAssembly, and the rules both sides apply to
// them. There is nothing to call first: a host fills in a [Session] and a list of
// [Message] for the root package, an author's handler takes an [Input] and returns an
// [Output] through abi/guest. The JSON Schemas in abi/schema are generated from its types.
//
// Reading order:
//
//   - [Message], [Content], [ToolCall]: one entry of a session;
//   - [Units], [Pinned], [CurrentTurn]: what has to stay together, what may
//     never go, and what the model is busy with;
//   - [Input], [Output]: what a hook is given and what it may answer;
//   - [Manifest], [Knob]: what a plugin says about itself;
//   - [Plan], [Record]: a compaction proposed, and a compaction done;
//   - [Error], [Code]: how any of it fails;
//   - [Fence]: the frame in which foreign text reaches a model.
//
// The package does no I/O and depends on the standard library alone, so that
// the same rules compile into every guest. Nothing in it takes a context but the
// interface [Model], which hosts implement.
//
// Compatibility: documents carry "abi": [Version]. Within a version fields are
// only added, error codes only appended, and a host says so where it ignores
// something that it does not know.
package abi

// Version is the ABI version this package describes. It is the "abi" field of
// [Input] and [Manifest]; a manifest with another version is refused.
const Version = 1
