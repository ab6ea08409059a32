package tokens

import (
	"context"

	"github.com/kagewasm/kagewasm/abi"
)

// What a request costs beyond its texts. The first two are those of OpenAI's
// cookbook, "How to count tokens with tiktoken", which gives them for gpt-4 and
// gpt-4o; the others follow what providers bill for such requests. Providers
// that publish nothing are taken to be alike.
const (
	// messageTokens is the frame of one message: three tokens, and one for
	// the role.
	messageTokens = 4
	// nameTokens is what a name costs beside its text.
	nameTokens = 1
	// toolCallTokens is the frame of one tool call, beside the name and the
	// arguments. The call's id is the transport's and reaches no model.
	toolCallTokens = 3
	// toolsTokens is the frame of the tool definitions; once a request that
	// has some.
	toolsTokens = 12
	// imageTokens is the estimate for an image. Anthropic counts one token for
	// 750 pixels and scales larger images down to about 1,600; OpenAI's tiles
	// come to at most 1,445 in gpt-4o's high detail.
	imageTokens = 1600
)

// Message counts what a message adds to a request: text, name, tool calls and
// the frame around them. Parts that are neither text nor image count as the
// JSON they are, with long base64 in them estimated by its length.
func (c *Counter) Message(m *abi.Message) int {
	n, _ := c.MeasureMessage(context.Background(), m)
	return n.Tokens
}

// MessageContext implements [abi.ContextCounter].
func (c *Counter) MessageContext(ctx context.Context, m *abi.Message) (int, error) {
	n, err := c.MeasureMessage(ctx, m)
	return n.Tokens, err
}

// MeasureMessage is [Counter.Message] with a context, and says whether all of
// the message's text was counted exactly and nothing in it was estimated. (The
// frame is the documented one and no more than that.)
func (c *Counter) MeasureMessage(ctx context.Context, m *abi.Message) (Count, error) {
	sum := tally{c: c, ctx: ctx, n: Count{Tokens: messageTokens, Exact: true}}
	if m.Content.IsParts() {
		for _, p := range m.Content.Parts() {
			sum.part(p)
		}
	} else {
		sum.text(m.Content.Text())
	}
	if m.Name != "" {
		sum.n.Tokens += nameTokens
		sum.text(m.Name)
	}
	for i := range m.ToolCalls {
		sum.n.Tokens += toolCallTokens
		sum.text(m.ToolCalls[i].Name)
		sum.text(m.ToolCalls[i].Arguments)
	}
	return sum.result()
}
