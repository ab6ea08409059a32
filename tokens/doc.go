// Package tokens counts tokens and knows models: their windows, what they may
// answer, what they cost.
//
// Start with [Default] and [Catalog.Resolve], which turn the name a caller has
// for a model into a [Model]; then [New] with the model's encoding gives a
// [Counter], which counts texts, messages and tool definitions.
//
// Counting runs in linear time and bounded memory on any input, can be
// cancelled, and never reaches for the network: the ranks are linked into the
// program. Special tokens in a text count as the plain text they are. Counts
// are those of tiktoken, but for texts with a stretch of over 512 bytes in
// which no token boundary is certain; those are cut, and [Count.Exact] says so.
//
// What is not known stays unknown: the window of an unknown model is nil, and
// only [Model.Window] puts [abi.FallbackWindow] in its place; providers that
// publish no tokenizer are counted with another one, and [Model.ExactCounts]
// is false for them.
package tokens
