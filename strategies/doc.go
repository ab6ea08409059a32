// Package strategies holds the ways to make a session smaller. Each is a pure
// function: it gets a [View] of the session and returns an [abi.Plan], which
// the firewall checks and the host applies. Nothing here changes a message.
//
//   - [Prune] shortens old tool output; no compaction, no record (FEATURES K20).
//   - [Drop] lets the oldest go; the floor that cannot fail (K2, K4, K9, K10).
//   - [CutFor] is Drop's choice for a summary that somebody else wrote.
//   - Package summarize has a model write one (K24, K25): the only strategy
//     that calls anybody, and in one step of three.
//
// What goes is replaced by a note with the exact names that stood in it: see
// package ledger.
package strategies
