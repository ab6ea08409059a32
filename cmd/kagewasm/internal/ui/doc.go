// Package ui is what the command prints. Its rules of tone:
//
//   - What was asked for goes to standard output, in one piece: a session, a
//     document, a table. All else goes to standard error: reports of a
//     compaction, progress, errors.
//   - An error says what, where and what to do: "kagewasm: op: what: why", lower
//     case, no full stop; the hint stands on a line of its own below.
//   - What plugins, sessions and models say is cut, and cannot look like lines of
//     ours: a [Printer] makes every value harmless on its way out, [JSON] escapes
//     what a terminal would hide or obey. Nothing else writes to a terminal.
//   - Numbers have thousands separators, sizes are binary (KiB, MiB), times are in
//     milliseconds. A table has no lines.
//   - Of a list a person sees the first few, and how many more there are; --json
//     has all of it.
//   - Colours say nothing that the words do not. They and progress are there only
//     where somebody watches; progress leaves nothing behind.
//   - Plain words: fix, record again, from scratch. Zero is "none" or is left out.
//
// [Error] and [ExitCode] end a command that failed; all others take a [Printer] and
// the value to show, which is also what --json prints ([JSON]).
package ui
