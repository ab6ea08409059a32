// Package work says what an agent did for a message of a person: what it changed,
// what it called and what came back, what it ran and how that ended. What only
// looked at something is counted.
//
// Nothing is taken from what the agent says of itself: a line is made of a call and
// its result. A change is told where the result says that it was made, a check as
// passed where its result says so; see package outcome.
//
// Begin with [New], give it the calls and their results in order, and take
// [Work.Lines].
package work
