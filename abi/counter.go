package abi

import "context"

// Counter counts tokens as one family of models does. Implementations are safe
// for concurrent use and run in linear time on any input.
type Counter interface {
	// Text counts a bare text. Special tokens in it count as the plain text
	// they are.
	Text(s string) int
	// Message counts what a message adds to a request: content, tool calls
	// with their arguments, and the frame around them.
	Message(m *Message) int
}

// ContextCounter is a [Counter] that can be stopped: counting ends with the error of
// a context that is done. Hosts use it where somebody else decides how long the texts
// are.
type ContextCounter interface {
	Counter
	TextContext(ctx context.Context, s string) (int, error)
	MessageContext(ctx context.Context, m *Message) (int, error)
}
