// Package strategies holds the ways to make a session smaller. A [Strategy] is
// given a [View] of the session and a [Budget], and returns an [abi.Plan] that
// says what goes; the firewall checks the plan and applies it. Nothing here
// changes a message.
//
//   - [Drop] lets the oldest go: the floor that cannot fail.
//   - [Summarize] has a model write what stands for the oldest. It is the only
//     one that calls anybody.
//   - [Delegate] takes what a plugin proposes.
//
// To add one, implement Strategy in a file of its own, and add it to shipped in the
// root's plan.go; a host gives its own in kagewasm.Options.
//
// [Cut] is the choice that the others build on: the oldest units go until the
// rest fits. [KeepConfig], [SummarizeConfig] and [NoteConfig] are the parts of a
// policy that tune it.
//
// Before a compaction, and without a record, [Prune] shortens old tool output,
// [PruneArguments] the arguments of old tool calls, and [Trim] finds synthetic
// messages that repeat themselves. [ShortenFixed] cuts down giants in what has
// to stay, and [Spare] the newest output where nothing has to go then. Edits of one
// step are to be applied, and the messages counted again, before the next step looks
// at them.
//
// Everything takes time in proportion to the session. What goes is replaced by a
// note with the exact names that stood in it: see package note.
package strategies
