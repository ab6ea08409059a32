// Package replay runs a recorded session through a [kagewasm.Compactor] as if
// it happened again: message by message, with a look at the session before each
// call of the agent's model. It measures what strategies, windows and
// thresholds do to real work, without a model and without spending anything.
//
// [Run] is all there is. Each assistant message of the log is one call of the
// model, answered with what was recorded; everything else arrives between the
// calls. A turn ends where a person speaks again, and with the log. What an
// earlier compaction left in the log, a summary, is a message like any other.
//
// The figures are the replay's own, taken from what the model was really sent,
// and not those that reports claim; where both exist [Stats] has both.
//
// A log answers the same whatever the model is shown. So a replay can tell that
// the next step needs something that is gone, and never what an agent would
// have done without it.
package replay
