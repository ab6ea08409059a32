package models

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/kagewasm/kagewasm/abi"
)

// model is a model at a provider.
type model struct {
	config Config // checked, defaults filled in
	wire   wire
	header http.Header
	redact func(string) string
	// slots has room for as many requests as may run; nil where all may.
	slots chan struct{}
}

// Complete asks the model. r.Model is not looked at: that is for [NewSet].
func (m *model) Complete(ctx context.Context, r abi.ModelRequest) (abi.ModelResponse, error) {
	if err := r.Check(); err != nil {
		return abi.ModelResponse{}, err
	}
	if err := m.enter(ctx); err != nil {
		return abi.ModelResponse{}, m.interrupted(ctx, "")
	}
	defer m.leave()

	r.MaxTokens = m.maxTokens(r.MaxTokens)
	within, cancel := context.WithTimeout(ctx, m.config.Timeout)
	defer cancel()
	x := &exchange{m: m}
	resp, err := x.ask(within, r)
	if err != nil {
		return abi.ModelResponse{Model: m.config.Model}, x.failure(ctx, within, err)
	}
	resp.Model = cmp.Or(resp.Model, m.config.Model)
	if m.config.Price != nil {
		if cost, known := m.config.Price(usageOf(resp)); known {
			resp.Cost = cost
		}
	}
	return resp, nil
}

// ask sends the request and reads the answer.
func (x *exchange) ask(ctx context.Context, r abi.ModelRequest) (abi.ModelResponse, error) {
	x.body, _ = json.Marshal(x.m.wire.request(r)) // cannot fail: strings and numbers
	x.run(ctx)
	switch {
	case x.last.err != nil:
		return abi.ModelResponse{}, x.last.err
	case !x.last.ok():
		return abi.ModelResponse{}, x.last
	}
	return x.m.wire.answer(x.last.body)
}

func (m *model) maxTokens(asked int) int {
	switch limit := m.config.MaxOutput; {
	case asked == 0:
		return limit
	case limit == 0:
		return asked
	default:
		return min(asked, limit)
	}
}

// enter waits for a slot. The time it takes is the caller's, not the model's:
// it does not count against the timeout.
func (m *model) enter(ctx context.Context) error {
	if m.slots == nil {
		return ctx.Err()
	}
	select {
	case m.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (m *model) leave() {
	if m.slots != nil {
		<-m.slots
	}
}

// sleep waits, or ends with ctx.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
