// Package session keeps the conversation of an agent and makes it fit its model: begin with [Open],
// then call [Session.Append] and [Session.Dispatch]. Nothing is ever taken out of a [Session]: a
// compaction changes what the model sees, and a rollback brings back, byte for byte, what stood there.
//
// [Open] a session with a [kagewasm.Compactor]. Then, in the agent's loop:
//
//   - [Session.Append] whatever arrives: what a person says, what a tool returns.
//   - [Session.Dispatch] each call of the model. It compacts where that is due,
//     calls the model with what it should see, and adds the answer.
//   - [Session.EndOfTurn] when the agent has answered. Compactions that the agent,
//     a plugin or the host asked for with [Session.Request] run then, or when no other
//     turn is open and no call in flight. [Session.TurnEnded] does not wait for them.
//
// [Session.Compact] compacts at once, for a person who asks. [Session.Rollback] goes back to a message.
// [Session.Undo] goes back to before the last compaction, and takes back what arrived after it;
// [Session.Redo] undoes that. [Session.Handoff] begins a new session with a summary of this one. With
// the strategy checkpoint a compaction waits for a person: [Session.Pending] shows it,
// [Session.Approve] applies exactly what was shown, [Session.Reject] drops it.
//
// [Tools] are two tools for the agent itself: one asks for a compaction, the other, off by default,
// searches what compactions superseded. [Recall] does the same search for a host.
//
// A [Journal] stores sessions, in memory by default; package store has one in a database. Programs that
// call no model work on a [History]. Hosts that keep their own lists need none of this: they call
// [kagewasm.Compactor.Compact], in a goroutine if they like, and [Swap] the result in.
package session
