// Package names keeps the exact names of what a compaction takes away: paths,
// commands, error texts, symbols, ids and numbers, as they were written, ranked
// by who used them, how recently and how often, and written for a person and a
// model within a token budget. No model is asked.
//
// Why: a summary says what happened, and loses the exact names an agent goes
// on to need. Measured on compactions of popular agents, model-written
// summaries kept about a third of them; see BENCHMARKS.md.
//
// Use [Build] on the superseded messages, then [Names.Lists]. A summary that an
// earlier compaction wrote may be among the messages: the names it held are
// taken over, so that names survive chains of compactions.
package names
