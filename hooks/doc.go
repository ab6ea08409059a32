// Package hooks decides who is called when: observers first and side by side,
// then the one compactor; how long a hook may take in all; what becomes of the
// answers; and what happens when a plugin fails, which is nothing but a line
// in the failure chain.
//
// Make a [Dispatcher] with [New], which refuses a second compactor; then call
// [Dispatcher.Pre] before a compaction and [Dispatcher.Post] after it, and
// [Dispatcher.TurnEnd] when a turn of the agent has completed. What they return
// are values that nobody writes to; [Pre.Settle] takes how the proposals fared
// and returns the outcomes for the report. A dispatcher without plugins does
// nothing and costs nothing.
//
// What could go on for ever is bounded: a [Breaker] leaves plugins alone that
// fail again and again, and a session listens to three cancels and
// requests in a row.
//
// The package runs no guest and knows no engine: anything with a manifest and
// a Call is a [Plugin].
package hooks
