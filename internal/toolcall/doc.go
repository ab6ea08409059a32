// Package toolcall reads tool calls without a model: what a call is about, by its
// arguments, which commands a script runs, and whether output says that one failed.
//
// Begin with [Subject], [Commands] and [IsFailure]. Nothing is known of the tools themselves:
// arguments are told apart by the names that agents commonly give them. What
// cannot be told is left out, not guessed. Guests compile this package too.
package toolcall
