// Package note writes, without a model, the note that stands for superseded
// messages. A reader sees these parts in it:
//
//   - thread: what persons asked for, the todo list, decisions and next steps;
//   - rules: what a person required;
//   - failures: commands that failed and errors, in their exact words;
//   - files: those that were read and modified;
//   - names: paths, symbols, numbers and ids, as they were written.
//
// Without a summary they fill the sections of an [Outline]. Where a model or a
// plugin wrote a summary it comes first, and the note adds below it what such
// summaries lose. The sections are written in sections.go; outline.go says which
// part fills which section, write.go how much each may have.
//
// Use [Build] on the superseded messages, then [Note.Write]. A summary of an earlier
// compaction, of this package or of any other, may be among them: what it kept is
// taken over, so that chains of compactions lose nothing that there is room for,
// and none makes the note grow over its budget.
//
// Nothing is inferred. Requests, requirements, decisions and steps are quoted;
// what is not said in the session is not in the note. No text of the session and
// no summary can pass for a line of the host's own.
package note
