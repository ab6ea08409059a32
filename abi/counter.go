package abi

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
