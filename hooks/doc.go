// Package hooks calls plugins for the engine: a [Dispatcher] calls observers first and
// side by side, then the one compactor. Hosts need it for [Plugin] alone, which they
// give to kagewasm.Options, and for a [Breaker] that several compactors share.
//
// It bounds how long the observers take together, and the compactor; it sorts the
// answers; and a plugin that fails is a line in the failure chain, and nothing
// else. [New] refuses a second compactor. Call [Dispatcher.Pre] before a
// compaction and [Dispatcher.Post] after it, and [Dispatcher.TurnEnd] when a turn
// of the agent has completed. What they return are values that nobody writes to;
// [Pre.Settle] takes how the proposals fared and returns the outcomes for the
// report. A dispatcher without plugins does nothing and costs nothing.
//
// What could go on for ever is bounded: a [Breaker] leaves plugins alone that
// fail again and again, and a session listens to three cancels and
// requests in a row.
//
// The package runs no guest and knows no engine: anything with a manifest and
// a Call is a Plugin.
package hooks
