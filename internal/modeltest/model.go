package modeltest

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/kagewasm/kagewasm/abi"
)

// Model is a model within the process that follows a script. Its methods are
// safe for concurrent use.
type Model struct {
	answer func(Request) Answer

	mu       sync.Mutex
	requests []Request
}

// Script returns a model that gives the answers in turn, and the last one from
// then on. With none it always says "ok". Of an answer it knows the text, why
// it ended, the counts, Delay, Hang and Err.
func Script(answers ...Answer) *Model { return ScriptFunc(inTurn(answers)) }

// ScriptFunc returns a model that asks f what to do. Several calls of f may
// run at the same time.
func ScriptFunc(f func(Request) Answer) *Model { return &Model{answer: f} }

// Complete does what the script says. It ends with ctx.
func (m *Model) Complete(ctx context.Context, r abi.ModelRequest) (abi.ModelResponse, error) {
	m.mu.Lock()
	req := Request{ModelRequest: r}
	req.Messages, req.Prompt = r.Conversation(), ""
	m.requests = append(m.requests, req)
	m.mu.Unlock()

	a := m.answer(req)
	var timer <-chan time.Time
	if !a.Hang {
		timer = time.After(a.Delay)
	}
	select {
	case <-timer:
	case <-ctx.Done():
		return abi.ModelResponse{}, ctx.Err()
	}
	if a.Err != nil {
		return abi.ModelResponse{}, a.Err
	}
	return a.response(r), nil
}

// Requests returns the requests so far.
func (m *Model) Requests() []Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.requests)
}
