package tokens

import (
	"context"
	"encoding/json"

	"github.com/kagewasm/kagewasm/abi"
)

// Request is what is about to be sent to a model.
type Request struct {
	Messages []abi.Message
	// Tools are the tool definitions as the request holds them, a JSON list;
	// nil where there are none.
	Tools json.RawMessage
	// Overhead is what the caller knows of beyond that, in tokens: a prompt
	// that the provider adds, say.
	Overhead int
}

// Total is the size of a request, in tokens.
type Total struct {
	// Tokens is the sum of all below.
	Tokens int
	// Messages has the count of each message, in order.
	Messages []int
	Tools    int
	Overhead int
	Priming  int
	// Exact is [Count.Exact] of everything that was counted.
	Exact bool
}

// Request counts a whole request. The only error is the context's own.
func (c *Counter) Request(ctx context.Context, r Request) (Total, error) {
	t := Total{Messages: make([]int, len(r.Messages)), Overhead: r.Overhead, Priming: PrimingTokens, Exact: true}
	for i := range r.Messages {
		n, err := c.MeasureMessage(ctx, &r.Messages[i])
		if err != nil {
			return Total{}, err
		}
		t.Messages[i] = n.Tokens
		t.Tokens += n.Tokens
		t.Exact = t.Exact && n.Exact
	}
	tools, err := c.Tools(ctx, r.Tools)
	if err != nil {
		return Total{}, err
	}
	t.Tools = tools.Tokens
	t.Tokens += t.Tools + t.Overhead + t.Priming
	t.Exact = t.Exact && tools.Exact
	return t, nil
}

// Tools counts tool definitions by their JSON, without the white space that it
// is laid out with. Providers write them into the prompt in forms of their
// own, mostly shorter, so this is an estimate from above and never exact; none
// at all (nil, null, an empty list) count zero, exactly.
func (c *Counter) Tools(ctx context.Context, tools json.RawMessage) (Count, error) {
	text := compact(tools)
	if text == "" || text == "null" || text == "[]" {
		return Count{Exact: true}, nil
	}
	sum := tally{c: c, ctx: ctx, n: Count{Tokens: ToolsTokens}}
	sum.text(text)
	return sum.result()
}
