package sessiongen

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/lists"
)

// Counter counts a token for so many runes, begun ones included, and one for
// the frame of a message. The zero value counts four runes to a token.
type Counter struct{ Runes int }

// Text counts a bare text.
func (c Counter) Text(s string) int {
	per := c.Runes
	if per <= 0 {
		per = 4
	}
	return (utf8.RuneCountInString(s) + per - 1) / per
}

// Message counts content, tool calls and the frame around them.
func (c Counter) Message(m *abi.Message) int {
	n := 1 + c.Text(m.Text()) + c.Text(m.Name)
	for _, call := range m.ToolCalls {
		n += c.Text(call.Name) + c.Text(call.Arguments)
	}
	return n
}

// Tokens counts each message.
func (c Counter) Tokens(msgs []abi.Message) []int {
	tokens := lists.Map(msgs, func(m abi.Message) int { return c.Message(&m) })
	return tokens
}

// Sum adds up counts.
func Sum(tokens []int) int {
	n := 0
	for _, t := range tokens {
		n += t
	}
	return n
}

// JSONL writes messages in neutral form, one JSON object a line.
func JSONL(msgs []abi.Message) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	for i := range msgs {
		if err := enc.Encode(&msgs[i]); err != nil {
			panic(err) // a message that cannot be written is a fault of the test
		}
	}
	return buf.Bytes()
}
