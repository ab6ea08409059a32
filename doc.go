// Package kagewasm compacts the context of LLM agents: it decides when a
// session no longer fits its model, makes it smaller, checks the result, says
// what it did, and loses nothing on the way. Plugins, sandboxed WebAssembly
// modules, may observe or take the compaction over.
//
// Make a [Compactor] with [New] and call [Compactor.Compact] before each model
// call: it returns the messages to send and a [Report]. Below the threshold the
// messages are the ones it was given. Call [Compactor.TurnEnd] when a turn of the
// agent has completed, for plugins to hear of it. Where a [Policy] wants a person
// to approve, [Compactor.Commit] applies what waits and [Compactor.Reject] drops
// it. Hosts that keep no list of messages of their own open a session of package
// session, which makes all these calls.
//
// Plugins are loaded by package runtime: a runtime.Runtime loads modules, and what it
// returns goes into Options.Plugins: see the example Plugins.
//
// The zero [Options] are the documented defaults and need only a token counter; a
// Policy says when and how to compact. engine.go shows the stages:
//
//	look -> prune -> decide -> pre_compact -> plan -> check and apply -> report -> commit -> post_compact
//
// A compaction always completes: where a plugin fails or its plan is refused,
// the next strategy follows, and the report carries the whole chain of failures.
// Every plan goes through the firewall, whoever made it. Messages are never
// changed in place; the caller's list stays as it is.
package kagewasm
