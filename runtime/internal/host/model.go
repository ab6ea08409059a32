package host

import (
	"cmp"
	"context"

	"github.com/kagewasm/kagewasm/abi"
)

// model answers the op model.complete.
type model struct{ used abi.ModelUsage }

func (m *model) complete(ctx context.Context, c *Call, r abi.ModelRequest) (any, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	if m.used.Calls >= c.Plugin.Limits.ModelCalls {
		return nil, quotaf("raise its limit (--limit model_calls=N)", "more than %d completions", c.Plugin.Limits.ModelCalls)
	}
	m.used.Calls++
	resp, err := recorded(c, abi.OpModelComplete, r, func() (abi.ModelResponse, error) { return ask(ctx, c, r) })
	if err != nil {
		return nil, err
	}
	m.used.InputTokens += resp.InputTokens
	m.used.OutputTokens += resp.OutputTokens
	m.used.Cost += resp.Cost
	m.used.Model = cmp.Or(resp.Model, m.used.Model)
	return resp, nil
}

// ask asks the host's model. What a provider says of an error (addresses, keys,
// accounts) stays with the host: the plugin learns the code.
func ask(ctx context.Context, c *Call, r abi.ModelRequest) (abi.ModelResponse, error) {
	if c.Plugin.Services.model == nil {
		return abi.ModelResponse{}, &abi.Error{
			Code: abi.CodeDenied, Message: "this host has no model for plugins", Hint: "the operator configures one",
		}
	}
	resp, err := c.Plugin.Services.model.Complete(ctx, r)
	Check(ctx)
	if err == nil {
		return resp, nil
	}
	c.Warn("model.complete: " + c.Clean([]byte(err.Error())))
	code := abi.CodeOf(err)
	if code == abi.CodeInternal {
		code = abi.CodeModel
	}
	return abi.ModelResponse{}, &abi.Error{Code: code, Message: "the model did not answer", Err: err}
}

func (m *model) report(s *abi.CallStats) {
	if m.used.Calls > 0 {
		s.Model = &m.used
	}
}
