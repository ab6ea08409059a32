// Package firewall is the one place where a compaction plan becomes a new message list: call [Apply].
// It checks every promise about the session, for a plan of a strategy, a plugin or a model alike. It
// either applies the plan whole, or refuses it with a code that says which promise it would break:
//
//   - pinned messages stay, byte for byte (a task that leaves no room for anything else is
//     shortened before, by [Shorten]), and so does the current turn, unless the plan may
//     take all;
//   - a tool call and its results stay or go together, in both directions;
//   - the order of what stays is kept, every id is known and used once;
//   - only tool output and tool-call arguments are edited, only to shorten
//     them, and arguments stay a JSON object;
//   - whatever is inserted stands in a frame the host writes: role user, a
//     declared kind, fenced, marked as data;
//   - the result is strictly smaller, and under the target or the best that
//     can be.
//
// It is the only code that edits messages. [Edit] applies the edits of pruning, which is no compaction,
// by the same rules. [Shorten] cuts a message of a person that leaves no room for anything else down to
// its beginning and end.
//
// [FromOutput] turns a compactor's answer into a plan, and refuses answers that no plan can express:
// forged or repeated ids, another order, rewritten words.
package firewall
