// Package tokens counts tokens and knows models: their windows, what they may answer, what they cost.
// Begin with [Default] and [Catalog.Resolve], which turn the name a caller has for a model into a
// [Model]; then [New] with the model's encoding gives a [Counter], which counts texts, messages and
// tool definitions.
//
// Counts are those of tiktoken, in time linear in the text whatever it is, at 50 MB/s and more.
// Counting can be cancelled, and never uses the network: the vocabularies are linked into the program,
// and loaded with the first text that is counted in them. Special tokens in a text count as the plain
// text they are.
//
// What is not known stays unknown: the window of an unknown model is nil, and only [Model.Window] puts
// [abi.FallbackWindow] in its place; providers that publish no tokenizer are counted with another one,
// and [Model.ExactCounts] is false for them.
package tokens
