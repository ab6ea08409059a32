package hooks

import (
	"context"

	"github.com/kagewasm/kagewasm/abi"
)

// Pre is what the plugins said before a compaction.
type Pre struct {
	Answers
	// Injected is what they want to put before the model, in the order of the
	// plugins. A compactor's comes last.
	Injected []abi.Insert
	// AlwaysKeep are messages to pin.
	AlwaysKeep []Keep
	// Proposals are the compactions they propose, in the order to try them:
	// the compactor's, then the summaries of observers, the last one first
	// (FEATURES O2). For each that is tried [Pre.Taken] or [Pre.Refuse] says
	// how it went.
	Proposals []*Proposal
	// Cancelled: an observer that may asked not to compact, and is listened to
	// (FEATURES T10). The compactor was not asked.
	Cancelled bool
	// Fallback: somebody else's plan was to be used, and failed: the
	// compactor's call, or a proposal that was refused.
	Fallback bool
}

// Proposal is a compaction that a plugin proposes: a message list, or a summary
// for which the host makes the cut.
type Proposal struct {
	Output *abi.Output
	Source abi.Source
	permit *permit
}

// Keep is a message that a plugin wants pinned.
type Keep struct{ Plugin, ID string }

// Pre calls the observers, then the compactor. Nothing a plugin does makes it
// fail.
func (d *Dispatcher) Pre(ctx context.Context, in *abi.Input) *Pre {
	pre := &Pre{}
	if d.Empty(in.Hook) {
		return pre
	}
	d.compacts(in)
	ctx, cancel := withLimit(ctx, d.timeout)
	defer cancel()
	limit := d.timeout
	if d.HasCompactor() {
		limit /= 2
	}
	for _, a := range d.ask(ctx, limit, d.observers, in) {
		pre.observed(in, a)
	}
	if d.listens(pre, in) {
		pre.cancel()
		return pre
	}
	if d.compactor == nil {
		return pre
	}
	for _, a := range d.ask(ctx, d.timeout, []Plugin{d.compactor}, in) {
		pre.compacted(in, a)
	}
	return pre
}

// observed takes an observer's answer. A summary or a cancel is for those who
// are granted it, a message list for the compactor alone (FEATURES K6).
func (pre *Pre) observed(in *abi.Input, a answer) {
	summary := ""
	switch out := a.out; {
	case out == nil || !out.Compacts() && !out.Cancel:
	case !a.plugin.Granted(abi.CapCompactionSummary):
		a.outcome.warn("an observer's messages, summary or cancel are not taken: a summary or a cancel needs the capability %s, asked for in the manifest and granted", abi.CapCompactionSummary)
	default:
		if out.Messages != nil {
			a.outcome.warn("a message list is not taken of an observer: that is for the role compactor")
		}
		if out.Cancel {
			a.outcome.Outcome = OutcomeCancelled
			a.outcome.warn("cancelled: %s", said(out.Reason))
		} else {
			summary = out.Summary
		}
	}
	if summary != "" {
		pre.propose(&a, &abi.Output{Summary: summary})
	}
	pre.take(in, a)
}

// compacted takes the compactor's answer. Where it cancels the strategy
// follows, as it does where the compactor has nothing to say.
func (pre *Pre) compacted(in *abi.Input, a answer) {
	switch {
	case a.out == nil:
		pre.Fallback = a.outcome.Error != nil
	case a.out.Cancel:
		a.outcome.Outcome = OutcomeCancelled
		a.outcome.warn("cancelled, so the strategy follows: %s", said(a.out.Reason))
	case a.out.Compacts():
		pre.propose(&a, a.out)
	}
	pre.take(in, a)
}

// propose puts a proposal before all others.
func (pre *Pre) propose(a *answer, out *abi.Output) {
	a.proposes = true
	pre.Proposals = append([]*Proposal{{Output: out, Source: source(a.plugin), permit: a.permit}}, pre.Proposals...)
}

// take collects what any plugin may say.
func (pre *Pre) take(in *abi.Input, a answer) {
	if a.out != nil {
		if a.out.Inject != "" {
			pre.Injected = append(pre.Injected, abi.Insert{Kind: abi.KindInjected, Text: a.out.Inject, Source: source(a.plugin)})
		}
		for _, id := range a.out.AlwaysKeep {
			pre.AlwaysKeep = append(pre.AlwaysKeep, Keep{Plugin: a.outcome.Plugin, ID: id})
		}
	}
	pre.Answers.take(in, a)
}

// cancel leaves out what would have gone into the session, and says so.
func (pre *Pre) cancel() {
	pre.Cancelled = true
	for _, p := range pre.Proposals {
		p.permit.succeeded()
		pre.Warn(p.Source.Name, "its summary was not used: the compaction was cancelled")
	}
	for _, in := range pre.Injected {
		pre.Warn(in.Source.Name, "its text was not injected: the compaction was cancelled")
	}
	pre.Proposals, pre.Injected = nil, nil
}

// Taken notes that a proposal became the plan. The others are of use no more,
// and are told so.
func (pre *Pre) Taken(taken *Proposal) {
	taken.permit.succeeded()
	for _, p := range pre.Proposals {
		if o := pre.of(p.Source.Name); p != taken && o.Outcome == OutcomeOK {
			p.permit.succeeded()
			o.warn("its summary was not used: %s proposed too, and comes first", taken.Source.Name)
		}
	}
}

// Refuse notes that a proposal was not taken, and why.
func (pre *Pre) Refuse(p *Proposal, err *abi.Error) {
	pre.Fallback = true
	o := pre.of(p.Source.Name)
	o.failed(p.permit, err, OutcomeRefused)
	pre.Failures = append(pre.Failures, o.Error)
}
