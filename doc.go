// Package kagewasm compacts the context of LLM agents: [New] makes a [Compactor], and
// [Compactor.Compact], called before each model call, returns the messages to send and a [Report]. It
// decides when a session no longer fits its model, makes it smaller, checks the result, says what it
// did, and loses nothing. Plugins, sandboxed WebAssembly modules, may observe or take the compaction
// over.
//
// Below the threshold the messages are the ones that Compact was given. Call [Compactor.TurnEnd] when a
// turn of the agent has completed, so that plugins hear of it. Where a [Policy] wants a person to
// approve, [Compactor.Commit] applies what waits and [Compactor.Reject] drops it. [Compactor.Prepare]
// tells what a model would be asked to summarize, and asks nobody. Hosts that keep no list of messages of
// their own open a session of package session, which makes the calls for a session.
//
// Plugins are loaded by package runtime: a runtime.Runtime loads modules, and what it returns goes into
// Options.Plugins: see the example Plugins.
//
// The zero [Options] are the documented defaults and need only a token counter; a Policy says when and
// how to compact. engine.go shows the stages:
//
//	look -> prune -> decide -> pre_compact -> plan -> check and apply -> report -> commit -> post_compact
//
// A compaction always completes: where a plugin fails or its plan is refused, the next strategy
// follows, and the report carries the whole chain of failures. Every plan goes through the firewall,
// whether a strategy, a plugin or a model made it. Messages are never changed in place; the caller's
// list stays as it is.
package kagewasm
