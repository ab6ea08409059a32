// Package store keeps sessions in a database: every message there ever was with
// what became of it, the compactions and how people judged them, those that wait for
// a decision, what models cost, the values of knobs, and an audit log that shows
// tampering. [Open] opens a SQLite file, a database in memory, or one of PostgreSQL;
// all else is the same for all three.
//
// A [Store] is a [session.Journal]: a session that is opened with it goes on where it
// was left. What has to happen together happens in [Store.Update]. Whatever follows
// from an entry of a journal (which messages are superseded, by what, which
// compactions are in force) is written in the transaction of the entry, so that no
// reader sees one without the other, and a process that is killed leaves neither.
//
// Entries are added by number, and a number is taken once: of two processes that
// compact the same session one gets the code conflict, and nothing that arrived is
// lost. A database that a newer version has written is refused; one of an older
// version is upgraded, and a copy of the SQLite file stays beside it.
//
// All errors are an [abi.Error]: usage, conflict, canceled, and state where the
// database fails. Nothing is retried but the wait for a lock.
package store
