// Package note writes, without a model, the note that stands for superseded
// messages: [Build] one of a session, then [Note.Write]. A reader sees these parts in it:
//
//   - thread: what persons wrote, oldest first and word for word, each with what came
//     of it: what was changed, called and checked, and the agent's closing words;
//   - rules: what binds what follows, of messages that are shortened in the thread;
//   - loaded: what instructions forbid and demand that the agent read for its work, such as skills;
//   - state: where the work stood at the end: what the agent said and called last, one by
//     one and how it ended; the last commit, its branch and whether it was pushed; what was
//     changed and staged since; checks that failed when they last ran, and what the person
//     rejected;
//   - todos, in the state that the agent's own tool gave them;
//   - the beginning of a summary that somebody else wrote;
//   - failures: commands that failed and errors, in their exact words;
//   - files: those that were read and modified;
//   - names: paths, symbols, numbers and ids, as they were written.
//
// Where a model or a plugin wrote a summary it comes first, and the note adds all of
// these below it. A part that has nothing to say is left out. One budget is divided
// among them in write.go. The lines they begin with stand with each part; heads in
// sections.go lists those that are read back. [Outline] is about the sections of a
// model's summary.
//
// A summary of an earlier compaction, of
// this package or of any other, may be among the messages: what it kept is taken over,
// so that chains of compactions lose nothing that there is room for, cut nothing twice
// that they need not, and never grow over their budget.
//
// Nothing is inferred. A line is quoted, or made of a call and its result: what an
// agent says of itself is only quoted. No text of the session and no summary can pass
// for a line of the host's own.
package note
