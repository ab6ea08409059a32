// Package hooks calls plugins for the engine: a [Dispatcher], which [New] makes, calls observers first
// and side by side, then the one compactor. Call [Dispatcher.Pre] before a compaction,
// [Dispatcher.Post] after it, and [Dispatcher.TurnEnd] when a turn of the agent has completed. Hosts
// that use the engine need only [Plugin], which they give to kagewasm.Options, and a [Breaker] for
// several compactors to share.
//
// The dispatcher limits how long the observers take together, and how long the compactor takes. It
// sorts the answers. A plugin that fails is a line in the failure chain, and nothing else. [New]
// refuses a second compactor. What the calls return are values that nobody writes to; [Pre.Settle]
// takes how the proposals fared and returns the outcomes for the report. A dispatcher without plugins
// does nothing and costs nothing.
//
// What could go on for ever is bounded: a [Breaker] leaves plugins alone that fail again and again, and
// in a session at most three cancels and three requests in a row have an effect.
//
// The package runs no guest and knows no engine: anything with a manifest and a Call is a Plugin.
package hooks
