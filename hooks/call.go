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
	// Outcome is "ok", "nothing", "cancelled" (by the compactor), "refused" (the
	// firewall did not take the plan) or "failed".
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

// ask calls the plugins that handle the hook side by side, all within limit,
// and returns their answers in the order of the plugins.
func ask(ctx context.Context, limit time.Duration, plugins []Plugin, in *abi.Input) []answer {
	var asked []Plugin
	for _, p := range plugins {
		if handles(p, in.Hook) {
			asked = append(asked, p)
		}
	}
	if len(asked) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	answers := make([]answer, len(asked))
	var wg sync.WaitGroup
	for i, p := range asked {
		wg.Go(func() { answers[i] = callOne(ctx, p, in) })
	}
	wg.Wait()
	return answers
}

// callOne gives the plugin an input of its own and notes what came of it. It
// does not return before the plugin does: plugins keep their limits.
func callOne(ctx context.Context, p Plugin, shared *abi.Input) answer {
	name := p.Manifest().Name
	in := isolated(shared)
	in.Call += "/" + name
	start := time.Now()
	out, stats, err := guarded(ctx, p, in)
	if stats.MS == 0 {
		stats.MS = float64(time.Since(start).Microseconds()) / 1000
	}
	a := answer{plugin: p, out: out, outcome: Outcome{Plugin: name, Hook: shared.Hook, CallStats: stats}}
	switch {
	case err != nil:
		a.out = nil
		a.outcome.fail(name, shared.Hook, err)
	case out.IsZero():
		a.outcome.Outcome = "nothing"
	case out.Cancel && shared.Hook == abi.HookPreCompact && p.Manifest().Has(abi.RoleCompactor):
		a.outcome.Outcome = "cancelled"
	default:
		a.outcome.Outcome = "ok"
	}
	return a
}

// guarded is the call. A plugin written in Go that panics has failed, like any
// other; the session is none of its business.
func guarded(ctx context.Context, p Plugin, in *abi.Input) (out *abi.Output, stats abi.CallStats, err error) {
	defer func() {
		if v := recover(); v != nil {
			out = nil
			err = &abi.Error{Code: abi.CodeInternal, Op: "call", Message: fmt.Sprintf("panic: %v", v),
				Hint: "this is a fault of the plugin's or the host's Go code, not of a guest"}
		}
	}()
	return p.Call(ctx, in)
}

// fail fills in where the failure happened.
func (o *Outcome) fail(plugin string, hook abi.Hook, err error) {
	e := *abi.AsError(err)
	switch {
	case e.Code != abi.CodeInternal:
	case errors.Is(err, context.DeadlineExceeded):
		e.Code = abi.CodeDeadline
	case errors.Is(err, context.Canceled):
		e.Code = abi.CodeCanceled
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
