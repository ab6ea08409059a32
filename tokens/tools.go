package tokens

import (
	"context"
	"encoding/json"
)

// Tools counts tool definitions by their JSON, without the white space that it
// is laid out with. Providers write them into the prompt in forms of their
// own, mostly shorter, so this is an estimate from above and never exact; none
// at all (nil, null, an empty list) count zero, exactly.
func (c *Counter) Tools(ctx context.Context, tools json.RawMessage) (Count, error) {
	text := compact(tools)
	if text == "" || text == "null" || text == "[]" {
		return Count{Exact: true}, nil
	}
	sum := tally{c: c, ctx: ctx, n: Count{Tokens: toolsTokens}}
	sum.text(text)
	return sum.result()
}
