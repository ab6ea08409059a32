// Package sessiongen makes sessions for tests: random ones with all the
// oddities of real logs ([Messages], for property tests), and long plain ones
// ([Long], for measurements). [Counter] is a token counter that needs no
// vocabulary, and [JSONL] writes a session in neutral form.
//
// The oddities are those that agents' logs really have: call ids that are used
// again, also while an earlier call of that id is open; calls that are never
// answered; results that stand far from their call, or answer none; several
// calls in one message; entries before the first message of a person that no
// person wrote; kinds, pins and contents made of parts.
package sessiongen
