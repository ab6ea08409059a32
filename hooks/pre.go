package hooks

import (
	"context"
	"slices"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/lists"
)

// Pre is what the plugins said before a compaction.
type Pre struct {
	Answers
	// Injected are the texts that they want to put before the model, in the order of the plugins. A
	// compactor's comes last.
	Injected []abi.Insert
	// AlwaysKeep are the messages to pin, Release the messages that a plugin does not want pinned any
	// more.
	AlwaysKeep, Release []Keep
	// Proposals are the compactions that they propose, in the order in which to try them: the
	// compactor's, then the summaries of observers, the last one first. Tell [Pre.Settle] how they
	// fared.
	Proposals []Proposal
	// Cancelled: an observer with compaction.summary asked not to compact, and that has an effect. The
	// compactor was not called.
	Cancelled bool
	// Fallback: the compactor was to be used, and its call failed.
	Fallback bool
}

// Proposal is a compaction that a plugin proposes: a message list, or a summary
// for which the host makes the cut.
type Proposal struct {
	Output *abi.Output
	Source abi.Source
	permit *permit
}

// Keep is a message that a plugin wants pinned, or does not want pinned any more.
type Keep struct{ Plugin, ID string }

// Remark is what a plugin is told about its answer: a warning, or why its proposal was refused.
type Remark struct {
	Plugin  string
	Warning string
	Refused *abi.Error
	// PassedOver: its proposal was not looked at. That does not count as a failure.
	PassedOver bool
}

// Pre calls the observers, and then the compactor. A plugin that may propose a plan or a cancel has the
// time of the hook. The other observers run beside those. Pre waits for them until wait has passed
// since the start; a later answer has an effect if it is there when the compactor has answered. Nothing
// that a plugin does makes Pre fail.
func (d *Dispatcher) Pre(ctx context.Context, in *abi.Input, wait time.Duration) *Pre {
	pre := &Pre{}
	if d.Empty(in.Hook) {
		return pre
	}
	d.compacts(in)
	var judges, watchers []Plugin
	for _, p := range d.observers {
		if p.Granted(abi.CapCompactionSummary) {
			judges = append(judges, p)
		} else {
			watchers = append(watchers, p)
		}
	}
	watching := d.start(ctx, watchers, in, nil)
	for _, a := range d.ask(ctx, judges, in) {
		pre.observed(in, a)
	}
	var last []answer
	stop := d.listens(pre, in)
	watching.wait(wait)
	if !stop && d.compactor != nil {
		last = d.ask(ctx, []Plugin{d.compactor}, in)
	}
	var watched []answer
	watched, pre.Late = watching.answers()
	for _, a := range watched {
		pre.observed(in, a)
	}
	if stop {
		pre.cancel()
	}
	for _, a := range last {
		pre.compacted(in, a)
	}
	pre.Outcomes = append(pre.Outcomes, pre.Late.outcomes()...)
	d.order(pre)
	return pre
}

// order sorts all that was said into the order of the plugins.
func (d *Dispatcher) order(pre *Pre) {
	inOrder(d, pre.Outcomes, func(o Outcome) string { return o.Plugin })
	inOrder(d, pre.Failures, func(e *abi.Error) string { return e.Plugin })
	inOrder(d, pre.Retained, func(f Fact) string { return f.Plugin })
	inOrder(d, pre.Wishes, func(w Wish) string { return w.Plugin })
	inOrder(d, pre.Injected, func(t abi.Insert) string { return t.Source.Name })
	inOrder(d, pre.AlwaysKeep, func(k Keep) string { return k.Plugin })
	inOrder(d, pre.Release, func(k Keep) string { return k.Plugin })
}

// observed takes an observer's answer. A summary or a cancel has an effect only from observers that are
// granted it, and a message list only from the compactor.
func (pre *Pre) observed(in *abi.Input, a answer) {
	summary := ""
	switch out := a.out; {
	case out == nil || !out.Compacts() && !out.Cancel:
	case !a.plugin.Granted(abi.CapCompactionSummary):
		a.outcome.warn("an observer's messages, summary or cancel are not taken: a summary or a cancel needs the "+
			"capability %s, asked for in the manifest and granted", abi.CapCompactionSummary)
	default:
		if out.Messages != nil {
			a.outcome.warn("a message list is not taken of an observer: that is for the role compactor")
		}
		if out.Cancel {
			a.outcome.Outcome = OutcomeCancelled
			a.outcome.warn("cancelled: %s", remark(out.Reason))
		} else {
			summary = out.Summary
		}
	}
	if summary != "" {
		pre.propose(&a, &abi.Output{Summary: summary, Covers: a.out.Covers})
	}
	pre.take(in, a)
}

// compacted takes the compactor's answer. Where it cancels, or has nothing to say, the strategy
// follows.
func (pre *Pre) compacted(in *abi.Input, a answer) {
	switch {
	case a.out == nil:
		pre.Fallback = a.outcome.Error != nil
	case a.out.Cancel:
		a.outcome.Outcome = OutcomeCancelled
		a.outcome.warn("cancelled, so the strategy follows: %s", remark(a.out.Reason))
	case a.out.Compacts():
		pre.propose(&a, a.out)
		pre.Fallback = a.unstored
	}
	pre.take(in, a)
}

// propose puts a proposal before all others, unless what it would remove could not be stored.
func (pre *Pre) propose(a *answer, out *abi.Output) {
	if a.unstored {
		a.outcome.Outcome = outcomeRefused
		a.outcome.warn("what it proposes was not taken: what would go could not be stored")
		return
	}
	a.proposes = true
	pre.Proposals = slices.Insert(pre.Proposals, 0, Proposal{Output: out, Source: source(a.plugin), permit: a.permit})
}

// take collects what any plugin may answer.
func (pre *Pre) take(in *abi.Input, a answer) {
	if a.out != nil {
		if a.out.Inject != "" {
			pre.Injected = append(pre.Injected, abi.Insert{Kind: abi.KindInjected, Text: a.out.Inject, Source: source(a.plugin)})
		}
		keep := func(id string) Keep { return Keep{Plugin: a.outcome.Plugin, ID: id} }
		pre.AlwaysKeep = append(pre.AlwaysKeep, lists.Map(a.out.AlwaysKeep, keep)...)
		pre.Release = append(pre.Release, lists.Map(a.out.Release, keep)...)
	}
	pre.Answers.take(in, a)
}

// cancel leaves out what would have been put into the session, and says so.
func (pre *Pre) cancel() {
	pre.Cancelled = true
	for _, p := range pre.Proposals {
		p.permit.succeeded()
		pre.of(p.Source.Name).warn("its summary was not used: the compaction was cancelled")
	}
	for _, in := range pre.Injected {
		pre.of(in.Source.Name).warn("its text was not injected: the compaction was cancelled")
	}
	pre.Proposals, pre.Injected = nil, nil
}

// Settle takes how the compaction went on, and returns the outcomes and the failures of the hook with
// that in them. taken is the plugin whose proposal became the plan, "" where none did; remarks are
// those made before, in order. The breaker is told how the proposals fared. What [Dispatcher.Pre]
// returned is not changed. Call it once.
func (pre *Pre) Settle(taken string, remarks []Remark) ([]Outcome, []*abi.Error) {
	all := Answers{Outcomes: slices.Clone(pre.Outcomes), Failures: slices.Clip(pre.Failures)}
	for _, r := range remarks {
		o := all.of(r.Plugin)
		switch i := pre.proposed(r.Plugin); {
		case o == nil:
		case r.Refused == nil:
			o.warn("%s", r.Warning)
			if r.PassedOver && i >= 0 {
				pre.Proposals[i].permit.succeeded()
			}
		case i >= 0:
			o.failed(pre.Proposals[i].permit, r.Refused, outcomeRefused)
			all.Failures = append(all.Failures, o.Error)
		}
	}
	for _, p := range pre.Proposals {
		switch o := all.of(p.Source.Name); {
		case p.Source.Name == taken:
			p.permit.succeeded()
		case taken != "" && o.Outcome == outcomeOK: // of use no more
			p.permit.succeeded()
			o.warn("its summary was not used: %s proposed too, and comes first", taken)
		}
	}
	return all.Outcomes, all.Failures
}

// proposed returns the index of a plugin's proposal, or -1.
func (pre *Pre) proposed(plugin string) int {
	return slices.IndexFunc(pre.Proposals, func(p Proposal) bool { return p.Source.Name == plugin })
}
