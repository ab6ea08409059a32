package guest

import (
	"fmt"
	"iter"
	"slices"

	"github.com/kagewasm/kagewasm/abi"
)

// A batch of bodies ends at so many tokens (by the host's count, about half a
// megabyte of text) or messages, so that a session of any size can be gone
// through in the memory of a call.
const (
	batchTokens   = 128 << 10
	batchMessages = 1 << 10
)

// Bodies goes through messages of the input with their bodies, in the order
// asked. Under content: lazy it fetches them from the host, a batch at a time;
// where the input has them already it asks nobody. It ends at the first error,
// an *abi.Error: CodeUnknownID for an id that the input does not have.
//
//	for m, err := range c.Bodies(ids...) {
//		if err != nil {
//			return nil, err
//		}
//		use(m.Text())
//	}
func (c *Call) Bodies(ids ...string) iter.Seq2[*abi.InputMessage, error] {
	return func(yield func(*abi.InputMessage, error) bool) {
		known, lazy := make(map[string]*abi.InputMessage, len(c.Input.Messages)), true
		for i := range c.Input.Messages {
			m := &c.Input.Messages[i]
			known[m.ID] = m
			lazy = lazy && bare(&m.Message)
		}
		for len(ids) > 0 {
			n, err := batch(ids, known)
			var fetched []abi.InputMessage
			if err == nil && lazy {
				fetched, err = c.Messages(ids[:n]...)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			for i, id := range ids[:n] {
				m := known[id]
				if lazy {
					m = &fetched[i]
				}
				if !yield(m, nil) {
					return
				}
			}
			ids = ids[n:]
		}
	}
}

// bare reports whether a message says nothing, as all do under content: lazy.
func bare(m *abi.Message) bool {
	said := func(c abi.ToolCall) bool { return c.Arguments != "" }
	return !slices.ContainsFunc(m.ToolCalls, said) && !m.Content.IsParts() && m.Content.Text() == "" && len(m.Raw) == 0
}

// batch is how many of the ids are fetched at once.
func batch(ids []string, known map[string]*abi.InputMessage) (n int, err error) {
	tokens := 0
	for n < min(len(ids), batchMessages) && (n == 0 || tokens < batchTokens) {
		m, ok := known[ids[n]]
		if !ok {
			message := fmt.Sprintf("no message %q", ids[n])
			return 0, &abi.Error{Code: abi.CodeUnknownID, Op: string(abi.OpMessagesGet), Message: message}
		}
		tokens += m.Tokens
		n++
	}
	return n, nil
}
