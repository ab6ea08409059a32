package hooks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/lists"
)

// Outcome says how one call went, for reports.
type Outcome struct {
	Plugin string   `json:"plugin"`
	Hook   abi.Hook `json:"hook"`
	// Outcome is one of these:
	//
	//	ok           it had something to say
	//	nothing      it had nothing to say
	//	cancelled    an observer cancelled the compaction, or the compactor left it to the strategy
	//	overruled    its cancel had no effect
	//	unstored     it answered, and what it should remember could not be stored
	//	refused      its proposal was not taken: by the firewall, or for not being remembered
	//	failed       the call, or what it answered, was an error
	//	quarantined  it was not called, for having failed too often
	//	late         it was not waited for, and goes on
	Outcome string `json:"outcome"`
	abi.CallStats
	// Until is the end of a quarantine, RFC 3339.
	Until string `json:"until,omitempty"`
	// Start is when the plugin was called. It is zero where it was not called, or where that is not
	// known any more.
	Start time.Time  `json:"-"`
	Error *abi.Error `json:"error,omitempty"`
}

// The values of [Outcome].Outcome.
const (
	OutcomeCancelled = "cancelled"
	OutcomeLate      = "late"

	outcomeOK          = "ok"
	outcomeNothing     = "nothing"
	outcomeOverruled   = "overruled"
	outcomeUnstored    = "unstored"
	outcomeRefused     = "refused"
	outcomeFailed      = "failed"
	outcomeQuarantined = "quarantined"
)

// answer is what one plugin answered.
type answer struct {
	plugin  Plugin
	permit  *permit
	out     *abi.Output
	outcome Outcome
	// wish is the compaction that it asks for; nil where it asks for none, or is not listened to.
	wish *Wish
	// proposes: the answer is a proposal, and the firewall will say whether it was of use.
	proposes bool
	// unstored: what it should remember could not be stored.
	unstored bool
}

// errHookTime is the cause of a context that the hook's own limit ended, which tells it from an end by
// the caller.
var errHookTime = errors.New("the time of the hook is up")

func withLimit(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, limit, errHookTime)
}

// ask calls the plugins that handle the hook side by side, all within the time of the hook. It returns
// their answers in the order of the plugins.
func (d *Dispatcher) ask(ctx context.Context, plugins []Plugin, in *abi.Input) []answer {
	asked := lists.Filter(plugins, func(p Plugin) bool { return handles(p, in.Hook) })
	if len(asked) == 0 {
		return nil
	}
	ctx, cancel := withLimit(ctx, d.timeout)
	defer cancel()
	answers := make([]answer, len(asked))
	var wg sync.WaitGroup
	for i, p := range asked {
		wg.Go(func() { answers[i] = d.callOne(ctx, p, isolated(in)) })
	}
	wg.Wait()
	return answers
}

// callOne calls the plugin with an input of its own, and returns its answer and how the call went. It
// does not return before the plugin does: plugins keep their limits.
func (d *Dispatcher) callOne(ctx context.Context, p Plugin, in *abi.Input) answer {
	name := p.Manifest().Name
	a := answer{plugin: p, outcome: Outcome{Plugin: name, Hook: in.Hook}}
	leave, refused, until := d.breaker.admit(p, in.Hook)
	a.permit = leave
	if refused != nil {
		a.outcome.Outcome, a.outcome.Until = outcomeQuarantined, until.Format(time.RFC3339)
		a.outcome.Error = refused.At(name, in.Hook, abi.PhaseCall)
		return a
	}
	in.Call += "/" + name
	if !p.Granted(abi.CapMessagesSearch) {
		in.Search = nil
	}
	start := time.Now()
	out, stats, err := guarded(ctx, p, in)
	stats.MS = cmp.Or(stats.MS, float64(time.Since(start).Microseconds())/1000)
	a.outcome.CallStats, a.outcome.Start = stats, start
	switch {
	case err != nil && (callerEnded(ctx) || abi.CodeOf(err) == abi.CodeUsage):
		// Usage is the host's mistake, such as a plugin that is closed.
		leave.abandoned()
		a.outcome.fail(located(ctx, err))
	case err != nil:
		a.outcome.failed(leave, located(ctx, err), outcomeFailed)
	default:
		leave.answered()
		a.out, a.outcome.Outcome = out, outcomeOK
		if out.IsZero() {
			a.outcome.Outcome = outcomeNothing
		}
		if err := unstored(out, &stats); err != nil {
			a.outcome.fail(err)
			a.outcome.Outcome, a.unstored = outcomeUnstored, true
		} else {
			d.requested(in, &a)
		}
	}
	return a
}

// unstored returns why something could not be stored, as the plugin says or as the host knows; nil
// where nothing failed.
func unstored(out *abi.Output, stats *abi.CallStats) *abi.Error {
	if out == nil || out.Unstored == "" {
		return stats.Unstored
	}
	e := &abi.Error{Code: abi.CodeState, Op: "memory", Message: remark(out.Unstored)}
	if host := stats.Unstored; host != nil { // a guest is told less of what went wrong
		e.Message += " (" + host.Message + ")"
		e.Hint, e.Err = host.Hint, host
	}
	return e
}

// callerEnded reports whether ctx ended by no fault of the plugins.
func callerEnded(ctx context.Context) bool {
	return ctx.Err() != nil && !errors.Is(context.Cause(ctx), errHookTime)
}

// failed notes a failure, and counts it in the breaker.
func (o *Outcome) failed(leave *permit, err *abi.Error, outcome string) {
	o.fail(err)
	o.Outcome = outcome
	if until := leave.failed(o.Error); !until.IsZero() {
		o.Until = until.Format(time.RFC3339)
		o.warn("failed too often in a row: in quarantine until %s", o.Until)
	}
}

// fail notes an error, with where it happened and a hint. The breaker does not count it.
func (o *Outcome) fail(err *abi.Error) {
	e := err.At(o.Plugin, o.Hook, abi.PhaseCall)
	e.Hint = cmp.Or(e.Hint, hint(e.Code))
	o.Outcome, o.Error = outcomeFailed, e
}

// guarded calls the plugin. A plugin written in Go that panics has failed like any other, and does not
// bring down the host.
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

// located returns the error of a call as an error of the ABI, and never as a bare one of the context.
func located(ctx context.Context, err error) *abi.Error {
	e := *abi.AsError(err)
	e.Op = cmp.Or(e.Op, "call")
	switch {
	case e.Code != abi.CodeInternal:
	case errors.Is(err, context.DeadlineExceeded):
		e.Code = abi.CodeDeadline
	case errors.Is(err, context.Canceled):
		e.Code = abi.CodeCanceled
	}
	if e.Code == abi.CodeDeadline && e.Hint == "" && !callerEnded(ctx) {
		e.Hint = "raise the time limit of the hook, or let its plugins do less"
	}
	return &e
}
