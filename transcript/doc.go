// Package transcript reads and writes agent sessions in the formats that
// agents and providers use. Start with [Read]; [Session.Encode] writes a
// message list back, in the format it came from or in another.
//
// Writing back is surgical. A message that did not change is written with the
// very bytes it was read from; one whose tool output or tool-call arguments
// were shortened keeps every byte outside that one JSON value; everything
// around the messages (unknown keys, white space, line ends, a byte order
// mark, the document they stand in) stays as it is. Encoding the list that
// [Read] returned reproduces the file.
//
// # Formats
//
//   - neutral: one message a line, as [abi.Message] says; a first line
//     {"tools":[...]} holds tool definitions.
//   - openai: chat messages as a list, as a document or request body that
//     holds the list under "messages" or "traj", or one a line.
//   - claude-code: the log of Claude Code, one entry a line.
//
// # Ids
//
// A message keeps the id its source has. Where there is none, or where an
// earlier message has it already, the message gets a positional one: m00000 is
// the first of the list. Should another message really have that id, ".1",
// ".2", ... is appended. Positional ids are not written back to the source.
//
// # What is refused
//
// Files that hold no message, text that is not UTF-8, JSON that is cut off,
// malformed, ambiguous (a key twice in one object) or nested deeper than
// [abi.MaxJSONDepth], keys that differ from those of the format in case alone,
// and roles other than the format's. All are an [abi.Error] of
// [abi.CodeBadInput] that says file, line and column.
package transcript
