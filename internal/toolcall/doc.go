// Package toolcall reads tool calls without a model: what a call is about, by its
// arguments, and whether its output says that it failed.
//
// Begin with [Subject] and [IsFailure]. Nothing is known of the tools themselves:
// arguments are told apart by the names that agents commonly give them. What
// cannot be told is left out, not guessed. Guests compile this package too.
package toolcall
