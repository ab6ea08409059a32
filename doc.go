// Package kagewasm compacts the context of LLM agents: it decides when a
// session no longer fits its model, makes it smaller, checks the result, says
// what it did, and loses nothing on the way. Plugins, sandboxed WebAssembly
// modules, may observe or take the compaction over.
//
// Make a [Compactor] with [New] and call [Compactor.Compact] before each model
// call. It returns the messages to send and a [Report]; below the threshold the
// messages are the ones it was given. The zero [Options] are the documented
// defaults and need only a token counter.
//
// The pipeline (pipeline.go) is
//
//	prune -> estimate -> decide -> pre_compact -> strategy -> firewall -> commit -> post_compact
//
// Hosts that keep their own lists call Compact, and [Compactor.TurnEnd] when a
// turn of the agent has completed. Hosts that have none open a session of
// package session, which keeps all that was ever in it, makes it fit before each
// call of the model, and can be rolled back.
//
// A [Policy] says when and how to compact, in all the modes there are.
//
// A compaction always completes: where a plugin fails or its plan is refused,
// the strategy follows, and the report carries the whole chain of failures.
// Messages are never changed in place; the caller's list stays as it is.
package kagewasm
