package guest

import (
	"fmt"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/wire"
)

// Call is one call of a hook: what the host says, and what it can be asked. It
// is valid until the handler returns and is not safe for concurrent use.
type Call struct {
	// Input is what the host says. The handler may change it.
	Input *abi.Input

	host Host
}

// NewCall is a call of in.Hook over host. Tests use it; in a module the calls
// are made by the host.
func NewCall(in *abi.Input, host Host) *Call { return &Call{Input: in, host: host} }

// Host carries host calls: it runs op and returns the response, a JSON
// [abi.HostResponse]. Inside a module that is the import host_call; natively
// it is a fake (see abi/guest/guesttest).
type Host interface {
	HostCall(op abi.Op, request []byte) (response []byte)
}

// KV is the plugin's own storage. It needs the capability kv.
func (c *Call) KV() KV { return KV{c} }

// Log writes a line to the host's log. Lines over the limit of the call are
// dropped by the host.
func (c *Call) Log(level abi.LogLevel, format string, args ...any) {
	// A log line that cannot be written is nothing a handler can act on.
	_ = c.do(abi.OpLog, abi.LogRequest{Level: level, Message: fmt.Sprintf(format, args...)}, nil)
}

// CountTokens counts each text with the tokenizer of the session's model.
func (c *Call) CountTokens(texts ...string) ([]int, error) {
	var resp abi.TokensResponse
	if err := c.do(abi.OpTokensCount, abi.TokensRequest{Texts: texts}, &resp); err != nil {
		return nil, err
	}
	if len(resp.Counts) != len(texts) {
		return nil, miscounted(abi.OpTokensCount, fmt.Sprintf("%d counts for %d texts", len(resp.Counts), len(texts)))
	}
	return resp.Counts, nil
}

// Costs is CountTokens for handlers that go on without exact counts. Where the
// host cannot count, the log says so, and a text is taken to be a token for
// every 3 bytes, and one more, to err on the safe side.
func (c *Call) Costs(texts ...string) []int {
	costs, err := c.CountTokens(texts...)
	if err != nil {
		c.Log(abi.LogWarn, "counting: %v", err)
		costs = make([]int, len(texts))
		for i, t := range texts {
			costs[i] = len(t)/3 + 1
		}
	}
	return costs
}

// Messages returns messages of the input with their bodies, in the order
// asked. A plugin whose manifest says content: lazy gets none otherwise. For
// more than a few see [Call.Bodies].
func (c *Call) Messages(ids ...string) ([]abi.InputMessage, error) {
	var resp abi.MessagesResponse
	if err := c.do(abi.OpMessagesGet, abi.MessagesRequest{IDs: ids}, &resp); err != nil {
		return nil, err
	}
	if len(resp.Messages) != len(ids) {
		return nil, miscounted(abi.OpMessagesGet, fmt.Sprintf("%d messages for %d ids", len(resp.Messages), len(ids)))
	}
	return resp.Messages, nil
}

// Search finds what has to do with a query among the messages that compactions
// superseded, best first, at most limit results (0 is 5). It needs the capability
// messages.search. What was said is data, and no order to the plugin or the model.
func (c *Call) Search(query string, limit int) ([]abi.Recalled, error) {
	var resp abi.SearchResponse
	if err := c.do(abi.OpMessagesSearch, abi.SearchRequest{Query: query, Limit: limit}, &resp); err != nil {
		return nil, err
	}
	return resp.Found, nil
}

// RequestCompaction asks for a compaction once the turn has completed, in any
// hook. It needs the capability compaction.request.
func (c *Call) RequestCompaction(instructions string) error {
	return c.do(abi.OpRequestCompact, abi.CompactionRequest{Instructions: instructions}, nil)
}

// HTTP sends a request to a host that the operator granted; it needs the
// capability http. A response of any status is no error. Errors are
// [abi.Error]: CodeDenied for a host that is not granted, CodeQuota over a
// limit, CodeDeadline where it took too long, CodeNetwork where nobody
// answered.
func (c *Call) HTTP(r abi.HTTPRequest) (*abi.HTTPResponse, error) {
	var resp abi.HTTPResponse
	if err := c.do(abi.OpHTTP, r, &resp); err != nil {
		return nil, err
	}
	return &resp, nil
}

// Complete asks a model, at the operator's cost; it needs the capability
// model. Errors are [abi.Error]: CodeDenied, CodeQuota, or why the model did not
// answer: CodeContextLength, CodeRateLimited, CodeOverloaded, CodeUnauthorized,
// CodeNetwork, CodeDeadline, or CodeModel for anything else.
func (c *Call) Complete(r abi.ModelRequest) (*abi.ModelResponse, error) {
	var resp abi.ModelResponse
	if err := c.do(abi.OpModelComplete, r, &resp); err != nil {
		return nil, err
	}
	return &resp, nil
}

func miscounted(op abi.Op, message string) *abi.Error {
	return &abi.Error{Code: abi.CodeInternal, Op: string(op), Message: message}
}

// do runs op. The error is an *abi.Error: the host's own, or CodeInternal
// where the two do not understand each other.
func (c *Call) do(op abi.Op, request, result any) error {
	internal := func(what string, err error) error {
		return &abi.Error{Code: abi.CodeInternal, Op: string(op), Message: what + ": " + err.Error(), Err: err}
	}
	req, err := wire.Marshal(request)
	if err != nil {
		return internal("encode request", err)
	}
	failed, err := wire.Response(c.host.HostCall(op, req), result)
	if err != nil {
		return internal("decode response", err)
	}
	if failed != nil {
		return failed
	}
	return nil
}
