package models

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/kagewasm/kagewasm/abi"
)

// wire says a request the way a provider wants to hear it, through x, and
// reads the answer.
type wire func(ctx context.Context, x *exchange, r abi.ModelRequest) (abi.ModelResponse, error)

// model is a Model at a provider.
type model struct {
	config Config // checked, defaults filled in
	wire   wire
	redact func(string) string
	// slots has room for as many requests as may run; nil where all may.
	slots chan struct{}
}

// Complete asks the model. r.Model is not looked at: that is for a [Set].
func (m *model) Complete(ctx context.Context, r abi.ModelRequest) (abi.ModelResponse, error) {
	if err := r.Check(); err != nil {
		return abi.ModelResponse{}, err
	}
	if err := m.enter(ctx); err != nil {
		return abi.ModelResponse{}, m.interrupted(ctx, "", err)
	}
	defer m.leave()

	r.MaxTokens = m.maxTokens(r.MaxTokens)
	within, cancel := context.WithTimeout(ctx, m.config.Timeout)
	defer cancel()
	x := newExchange(m)
	resp, err := m.wire(within, x, r)
	if err == nil && !x.last.ok() { // the SDKs let redirects pass
		err = fmt.Errorf("status %d", x.last.status)
	}
	if err != nil {
		return abi.ModelResponse{}, m.failure(ctx, within, x, err)
	}
	resp.Model = cmp.Or(resp.Model, m.config.Model)
	if m.config.Price != nil {
		if cost, known := m.config.Price(usageOf(resp)); known {
			resp.Cost = cost
		}
	}
	return resp, nil
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

// name is what errors call the model.
func (m *model) name() string { return string(m.config.Provider) + "/" + m.config.Model }

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
