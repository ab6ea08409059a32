// Package replay runs recorded sessions through a [kagewasm.Compactor] as if
// they happened again: message by message, with a look at the session before
// each call of the agent's model, as an agent's host has it.
//
// Each assistant message of the log is one call of the model, answered with what
// was recorded; everything else arrives between the calls. A turn ends where a
// person speaks again, and with the log. What an earlier compaction left in the
// log, a summary, is a message like any other. The agent's model is not asked.
//
// The figures are the replay's own, taken from what the model would have been
// sent, and not those that reports claim; where both exist Stats has both.
//
// A log answers the same whatever the model is shown. So a replay can tell that
// the next step needs something that is gone, and never what an agent would
// have done without it.
//
// The tests hold compaction against real sessions: nothing is ever lost,
// orphaned, forged or refused by a provider, whatever the model that writes
// summaries does. TestReplay is the main one; how much of its grid runs, package
// soak says.
package replay
