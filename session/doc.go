// Package session keeps the conversation of an agent and makes it fit its
// model. Nothing is ever taken out of a [Session]: a compaction changes what the
// model sees, and a rollback brings back, byte for byte, what stood there.
//
// [Open] a session with a [kagewasm.Compactor], and call [Session.Dispatch] for
// each call of the model: it compacts where that is due, calls the model with
// what it should see, and adds the answer. Everything else that arrives goes in
// with [Session.Append]. [Session.EndOfTurn] says that a turn is over, which is
// when compactions that somebody asked for take place.
//
// With the strategy checkpoint a compaction waits for a person:
// [Session.Pending] shows it, [Session.Approve] applies exactly what was shown,
// [Session.Reject] drops it.
//
// [Tools] are two tools that an agent can be given: one asks for a compaction,
// the other, off by default, searches what compactions took away. [AnswerTool]
// answers their calls.
//
// A [Journal] stores sessions, in memory by default. Hosts that keep their own
// lists need none of this: they call [kagewasm.Compactor.Compact], in a
// goroutine if they like, and [Swap] the result in.
package session
