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
//   - openai-responses: the items of the Responses API, as a list, under
//     "input" of a request body or under "output" of a response.
//   - anthropic: a request body of the Messages API, or its list of messages.
//   - gemini: a request body of the Gemini API, or its list of contents.
//   - gemini-cli: a chat that the Gemini CLI saved.
//   - claude-code: the log of Claude Code, one entry a line.
//
// A request body holds its system prompt apart: each text of it is a message of
// role system, the first ones of the session. A compaction that a provider made
// itself is a message of kind compaction_summary, which may be readable for the
// provider alone.
//
// A recording, a list of exchanges {"request":{...},"response":{...}} or one of
// them, is in the format of its latest request that carries messages. The
// session is that request and, as the last message, its response, unless that
// was streamed. As long as nothing changes it is written as it was; after that
// it is the request alone that is written, with the answer at its end: the body
// to send next.
//
// # What conversion loses
//
// Written in another format than its own, a session keeps roles, texts, images,
// calls with their results, and tool definitions. The neutral format keeps all
// of a message. Beyond that:
//
//   - ids, times and kinds of messages are left out where a format has none. A
//     summary is known again by its frame, see [abi.Fence].
//   - thinking goes only to formats of the provider that signed it.
//   - other parts that a format does not have become a line of text that names
//     them; tools that a provider runs itself stay with the provider.
//   - system messages after the first other message are the user's in anthropic
//     and gemini.
//   - a call's id that a provider would refuse (too long, other characters than
//     it takes, used before) is replaced by one that follows from it, in the
//     call and its result.
//   - a message that says nothing says "(no content)" where none may be empty.
//   - answers in a row are one answer in openai-responses where the later only
//     calls, and in gemini where the last calls.
//
// Nothing is made up for it: a call without a result stays one, though most
// providers refuse it.
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
