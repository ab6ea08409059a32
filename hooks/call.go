package hooks

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/kagewasm/kagewasm/abi"
)

// Outcome is what came of one call, for reports.
type Outcome struct {
	Plugin string   `json:"plugin"`
	Hook   abi.Hook `json:"hook"`
	// Outcome is "ok", "nothing", "cancelled", "refused" (the firewall did not
	// take the plan) or "failed".
	Outcome string `json:"outcome"`
	abi.CallStats
	Error *abi.Error `json:"error,omitempty"`
}

// answer is what one plugin said.
type answer struct {
	plugin  Plugin
	out     *abi.Output
	outcome Outcome
}

// ask calls the plugins that handle the hook side by side and returns their
// answers in the order of the plugins.
func (d *Dispatcher) ask(ctx context.Context, plugins []Plugin, in *abi.Input) []answer {
	var asked []Plugin
	for _, p := range plugins {
		if p != nil && handles(p, in.Hook) {
			asked = append(asked, p)
		}
	}
	if len(asked) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	answers := make([]answer, len(asked))
	var wg sync.WaitGroup
	for i, p := range asked {
		wg.Go(func() { answers[i] = callOne(ctx, p, *in) })
	}
	wg.Wait()
	return answers
}

// callOne gives the plugin an input of its own and notes what came of it. It
// does not return before the plugin does: plugins keep their limits.
func callOne(ctx context.Context, p Plugin, in abi.Input) answer {
	name := p.Manifest().Name
	in.Call = in.Call + "/" + name
	start := time.Now()
	out, stats, err := p.Call(ctx, &in)
	if stats.MS == 0 {
		stats.MS = float64(time.Since(start).Microseconds()) / 1000
	}
	a := answer{plugin: p, out: out, outcome: Outcome{Plugin: name, Hook: in.Hook, CallStats: stats}}
	switch {
	case err != nil:
		a.out = nil
		a.outcome.fail(name, in.Hook, err)
	case out.IsZero():
		a.outcome.Outcome = "nothing"
	case out.Cancel:
		a.outcome.Outcome = "cancelled"
	default:
		a.outcome.Outcome = "ok"
	}
	return a
}

// fail fills in where the failure happened.
func (o *Outcome) fail(plugin string, hook abi.Hook, err error) {
	e := *abi.AsError(err)
	if e.Code == abi.CodeInternal && errors.Is(err, context.DeadlineExceeded) {
		e.Code = abi.CodeDeadline
	}
	if e.Plugin == "" {
		e.Plugin = plugin
	}
	if e.Hook == "" {
		e.Hook = hook
	}
	if e.Phase == "" {
		e.Phase = abi.PhaseCall
	}
	o.Outcome, o.Error = "failed", &e
}

func (o *Outcome) warn(format string, args ...any) {
	o.Warnings = append(o.Warnings, fmt.Sprintf(format, args...))
}
