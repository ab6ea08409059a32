package replay

import (
	"slices"

	"github.com/kagewasm/kagewasm/abi"
)

// cache is a provider's prompt cache: it serves what stands at the beginning of
// a request exactly as in the one sent before. It never forgets, as it would
// after some minutes of silence.
type cache struct {
	counter  abi.Counter
	overhead int
	warm     bool // a request was sent
	messages []abi.Message
	tokens   []int
	last     request
}

// request is what one call took, in tokens.
type request struct{ input, cached int }

// sent takes in a request.
func (c *cache) sent(msgs []abi.Message) request {
	same := 0
	for same < min(len(msgs), len(c.messages)) && identical(&msgs[same], &c.messages[same]) {
		same++
	}
	var r request
	if c.warm {
		r = request{c.overhead, c.overhead}
	} else {
		r.input = c.overhead
	}
	c.warm = true
	c.tokens = c.tokens[:same]
	for i := range msgs {
		if i < same {
			r.cached += c.tokens[i]
		} else {
			c.tokens = append(c.tokens, c.counter.Message(&msgs[i]))
		}
		r.input += c.tokens[i]
	}
	c.messages, c.last = msgs, r
	return r
}

// identical reports whether two messages are the same to the byte, as far as a
// provider is sent of them. It is no copy of the compactor's own comparison on
// purpose: this is what its figures are held against.
func identical(a, b *abi.Message) bool {
	return a.ID == b.ID && a.Role == b.Role && a.Name == b.Name && a.Kind == b.Kind && a.IsError == b.IsError &&
		a.ToolCallID == b.ToolCallID && slices.Equal(a.ToolCalls, b.ToolCalls) && a.Content.Equal(b.Content)
}
