// Package digest writes, without a model, the note that stands for messages a
// compaction takes away: the sections of a structured summary as far as they
// can be read off the session, and the exact names of package ledger.
//
// Where a model or a plugin wrote a summary it comes first, and the digest adds
// what such summaries lose: what failed in its exact words, the todo list, the
// files that were read and modified, and the names (FEATURES A6, T7, N8).
//
// Use [Build] on the messages that go, then [Digest.Render]. A summary of an
// earlier compaction, of this package or of any other, may be among them: what
// it kept is taken over, so that chains of compactions lose nothing that there
// is room for, and none makes the note grow over its budget.
//
// Nothing is inferred. Requests, requirements, decisions and steps are quoted;
// what is not said in the session is not in the note.
package digest
