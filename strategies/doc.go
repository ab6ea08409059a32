// Package strategies holds the ways to make a session smaller. The engine calls [Strategy.Plan] of one
// after the other; a host puts its own into kagewasm.Options. A [Strategy] is given a [View] of the
// session and a [Budget], and returns an [abi.Plan] that says what is to be superseded. The firewall
// checks the plan and applies it. Nothing here changes a message.
//
//   - [Drop] removes the oldest: the floor, which cannot fail.
//   - [Summarize] has a model write what stands for the oldest. It is the only
//     one that calls anybody.
//   - [Delegate] takes what a plugin proposes.
//
// To add one that ships, implement Strategy in a file of its own, and add it to shipped in the root's
// plan.go.
//
// [Cut] is the choice that the others build on: the oldest units go until the rest fits. [KeepConfig],
// [SummarizeConfig] and [NoteConfig] are the parts of a policy that tune it.
//
// Before a compaction, and without a record, [Prune] shortens old tool output, [PruneArguments] the
// arguments of old tool calls, and [Trim] finds synthetic messages that repeat themselves.
// [ShortenFixed] cuts down giants in what has to stay, and [Spare] the newest output where nothing has
// to go then. Apply the edits of one step, and count the messages again, before the next step.
//
// Everything takes time in proportion to the session. A note with the exact names in the superseded
// messages stands for them: see package note.
package strategies
