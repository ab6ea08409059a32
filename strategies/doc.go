// Package strategies holds the ways to make a session smaller. Each is a pure
// function: it gets the session and returns edits, ids or an [abi.Plan], which
// the firewall checks and the host applies. Nothing here changes a message, and
// everything takes time in proportion to the session.
//
// Before a compaction, without a record:
//
//   - [Prune] shortens old tool output (FEATURES K20, I7).
//   - [PruneArguments] shortens the arguments of old tool calls (A13).
//   - [Trim] finds synthetic messages that repeat themselves (A1).
//
// The cut:
//
//   - [Drop] lets the oldest go; the floor that cannot fail (K2, K4, K9, K10).
//   - [CutFor] is Drop's choice for a summary that somebody else wrote.
//   - Package summarize has a model write one (K24, K25): the only strategy
//     that calls anybody, and in one step of three.
//   - [CutKeeping] is the same where only the recent end is to stay (A3, A11, I2).
//
// In what stays:
//
//   - [ShortenRecent] shortens tool output (I2).
//   - [Cap] shortens what is too large by itself, also in the current turn, and
//     puts media by reference.
//
// Edits of one step are to be applied, and the messages counted again, before
// the next step looks at them.
//
// Superseded messages are replaced by a note with the exact names that stood in
// them: see package note.
package strategies
