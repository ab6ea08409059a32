// Package transcript reads and writes agent sessions in the formats that
// agents and providers use. [Read] finds the format out and returns the
// messages; [Session.Encode] writes a message list back, in the format it came
// from or in another. Nothing else is needed.
//
// Writing back changes as little as possible. A message that did not change
// keeps the very bytes it was read from. One whose tool output or tool-call
// arguments were shortened keeps every byte outside that one JSON value.
// Everything around the messages (unknown keys, white space, line ends, a byte
// order mark, the document they stand in) stays as it is. Encoding the list
// that [Read] returned reproduces the file.
//
// # Formats
//
// A [Format] is a name; [Formats] lists them all.
//
//   - neutral: one message a line, as [abi.Message] says; a first line
//     {"tools":[...]} holds tool definitions. The role developer is system.
//   - openai: chat messages as a list, as a document or request body that
//     holds the list under "messages" or "traj", or one a line. Those of
//     Ollama's own API are read too: there arguments stay objects, and images
//     stand beside the text.
//   - openai-responses: the items of the Responses API, as a list, under
//     "input" of a request body or under "output" of a response.
//   - anthropic: a request body of the Messages API, or its list of messages.
//   - gemini: a request body of the Gemini API, or its list of contents.
//   - gemini-cli: a chat that the Gemini CLI saved.
//   - claude-code: the log of Claude Code, one entry a line.
//   - codex: the rollout of Codex CLI, one entry a line.
//   - pi: the session of pi, one entry of a tree a line, in all its versions.
//   - swe-agent: the .traj of SWE-agent, of which the history is read.
//   - openhands: the events of OpenHands (before its second generation), as a
//     list or in a document.
//
// A request body holds its system prompt apart: each text of it is a message of
// role system, the first ones of the session. A compaction that a provider made
// itself is a message of kind compaction_summary. Some of these only the
// provider can read.
//
// A recording is a list of exchanges {"request":{...},"response":{...}}, or one
// of them. It is in the format of its latest request that carries messages. The
// session is that request and, as the last message, its response, unless that
// was streamed. As long as nothing changes, the recording is written as it was.
// After a change only the request is written, with the answer at its end: the
// body to send next.
//
// # Adding a format
//
// Write a package below internal with a codec.Format: how a file of it is
// told from others, how it is read, how a new one is written. Package codec says
// how; internal/neutral is the shortest example. Name it in the table in
// format.go, and put samples into testdata/NAME: the tests over all formats take
// them from there, and fail where a format has none. Where the shared data is on
// the machine, shared_test.go also wants a file of every format but neutral in it:
// add one, and its name's pattern to formatOf. Without that data it is skipped.
//
// # Logs that were compacted before
//
// Messages holds the whole of a log in the log's own order, with the program's
// own summaries among them, of kind compaction_summary. Each stands where the
// log has it, which is when it was made. Superseded names the messages that
// the program no longer shows the model. The rest is what the model would see
// next, in the program's order but for one thing: pi shows its summary before
// the messages it kept, and openhands at the place that the summary names.
//
//   - claude-code: what is before the latest compact_boundary, but for what
//     the boundary preserves.
//   - codex: what the latest compacted entry does not repeat, and turns that a
//     person rolled back. Where the entry has no replacement history Codex
//     makes one: instructions, the latest 20,000 tokens of the person's words,
//     the summary.
//   - pi: what is before the entry that the latest compaction keeps first, and
//     earlier summaries. Branches that were left are no messages at all.
//   - openhands: the events that condensations forgot, and earlier summaries.
//
// The list that [Session.Encode] is given is what the model is to see. An
// untouched list leaves the program's own compactions as they are. Any other
// is written so that the program shows that list and no more: superseded
// messages that are in it are shown again, and those that are not are gone
// from the file. So leave out what Superseded names before compacting, or the
// messages come back: [Session.Live] does.
//
// # What conversion loses
//
// Written in another format than its own, a session keeps roles, texts, images,
// and calls with their results. Of the rest each format keeps what it has a
// place for:
//
//	                  ids    times  kinds   failed  names of  tools   model  session
//	                                        calls   results
//	neutral           kept   kept   kept    kept    kept      kept    lost   lost
//	openai            lost   lost   framed  lost    kept      kept    kept   lost
//	openai-responses  lost   lost   framed  lost    lost      kept    kept   lost
//	anthropic         lost   lost   framed  kept    lost      kept    kept   lost
//	gemini            lost   lost   framed  kept    kept      kept    kept   lost
//	gemini-cli        entry  entry  framed  kept    kept      lost    kept   kept
//	claude-code       new    kept   some    kept    lost      lost    kept   uuid
//	codex             lost   kept   kept    lost    lost      lost    kept   uuid
//	pi                new    kept   known   kept    kept      lost    kept   uuid
//	swe-agent         lost   lost   kept    lost    lost      lost    kept   kept
//	openhands         new    kept   kept    kept    kept      system  calls  lost
//
// Framed are kinds that [abi.Fence] names in the text, some these and that of
// a summary (all others become meta), known those of [abi.Kind]; kinds of
// messages that are not the user's are kept in neutral alone. Results of
// gemini-cli have the id and the time of their answer's entry. A uuid says that
// a session's id is kept where it is one, and otherwise made of the messages.
// Tool definitions are translated; those of openhands stand in its system
// message, its model in answers with calls. Beyond that:
//
//   - thinking goes only to formats of the provider that signed it, and of
//     programs that hold it in that provider's form: that of the Messages API
//     to anthropic (where it is signed), claude-code and pi, that of the
//     Responses API to openai-responses.
//   - other parts that a format does not have become a line of text that names
//     them; tools that a provider runs itself stay with the provider. Tool
//     results are text alone in openai, swe-agent, openhands, gemini and
//     gemini-cli.
//   - system messages that are no part of the system prompt (see [abi.Pinned]) are the
//     user's in anthropic and gemini, which hold the prompt apart.
//   - a call's id that a provider would refuse (too long, other characters than
//     it takes, used before) is replaced by one that follows from it, in the
//     call and its result.
//   - a message that says nothing says "(no content)" where none may be empty.
//   - the results of an answer's calls stand right behind it, where a log has them
//     later, and those of one call are one: its parts are what each of them says,
//     and it failed where the last of them says so. Neutral has them as they are.
//   - answers in a row are one answer in openai-responses where the later only
//     calls, and in gemini where the last calls.
//
// Nothing is made up for it: a call without a result stays one, though most
// providers refuse it.
//
// # Ids
//
// A message keeps the id its source has: its own in neutral sessions, its
// item's in openai-responses, its entry's in gemini-cli and pi, its line's uuid
// in claude-code, its event's in openhands. Where there is none, or where an
// earlier message has it already, the message gets a positional one: m00000 is
// the first of the list. Should another message really have that id, ".1",
// ".2", ... is appended. Positional ids are not written back to the source.
//
// # What is refused
//
// Files that hold no message, text that is not UTF-8, JSON that is cut off,
// malformed, ambiguous (a key twice in one object) or nested deeper than
// [strictjson.MaxDepth], keys that differ from those of the format in case alone,
// and roles other than the format's. A last line that a crash cut off is
// refused too, and not passed over: the caller decides about it. All are an
// [abi.Error] of [abi.CodeBadInput] that says file, line and column.
package transcript
