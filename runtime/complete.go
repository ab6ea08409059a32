package runtime

import (
	"context"
	"fmt"

	"github.com/kagewasm/kagewasm/abi"
)

// complete answers the op model.complete.
func (c *call) complete(ctx context.Context, r abi.ModelRequest) (any, error) {
	if err := c.need(abi.CapModel); err != nil {
		return nil, err
	}
	if err := countItems("messages", len(r.Messages)); err != nil {
		return nil, err
	}
	if err := r.Check(); err != nil {
		return nil, err
	}
	if c.model == nil {
		c.model = new(abi.ModelUsage)
	}
	if c.model.Calls >= c.limits.ModelCalls {
		return nil, &abi.Error{Code: abi.CodeQuota, Message: fmt.Sprintf("more than %d completions", c.limits.ModelCalls), Hint: "raise its limit (--limit model_calls=N)"}
	}
	c.model.Calls++
	resp, err := taped(c, abi.OpModelComplete, r, func() (abi.ModelResponse, error) { return c.ask(ctx, r) })
	if err != nil {
		return nil, err
	}
	c.model.InputTokens += resp.InputTokens
	c.model.OutputTokens += resp.OutputTokens
	c.model.Cost += resp.Cost
	return resp, nil
}

// ask asks the host's model.
func (c *call) ask(ctx context.Context, r abi.ModelRequest) (abi.ModelResponse, error) {
	model := c.plugin.runtime.model
	if model == nil {
		return abi.ModelResponse{}, &abi.Error{Code: abi.CodeDenied, Message: "this host has no model for plugins", Hint: "the operator configures one"}
	}
	resp, err := model.Complete(ctx, r)
	c.check(ctx)
	if err != nil {
		return abi.ModelResponse{}, c.modelError(err)
	}
	return resp, nil
}

// modelError keeps what a provider says (addresses, keys, accounts) to the
// host: the plugin learns the code.
func (c *call) modelError(err error) error {
	c.warn("model.complete: " + clean([]byte(err.Error()), c.limits.ErrorBytes, c.plugin.redact))
	code := abi.CodeOf(err)
	if code == abi.CodeInternal {
		code = abi.CodeModel
	}
	return &abi.Error{Code: code, Message: "the model did not answer", Err: err}
}
