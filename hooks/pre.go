package hooks

import (
	"context"

	"github.com/kagewasm/kagewasm/abi"
)

// Pre is what the plugins said before a compaction.
type Pre struct {
	// Retained and Injected are the observers' wishes, in the order of the
	// plugins. A compactor's come last.
	Retained []Fact
	Injected []abi.Insert
	// AlwaysKeep are messages to pin.
	AlwaysKeep []Keep
	// Proposal is the compactor's answer, nil where there is no compactor or
	// it has nothing to propose.
	Proposal *abi.Output
	// Compactor is who proposed.
	Compactor abi.Source
	// CompactorFailed: there is a compactor, and it failed or its proposal was
	// refused.
	CompactorFailed bool
	// Outcomes has an entry for each call, Failures one for each that failed.
	Outcomes []Outcome
	Failures []*abi.Error
}

// Fact is something a plugin wants kept beyond the session.
type Fact struct {
	Plugin string `json:"plugin"`
	Call   string `json:"call"`
	Text   string `json:"text"`
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
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	limit := d.timeout
	if d.HasCompactor() {
		limit /= 2
	}
	for _, a := range ask(ctx, limit, d.observers, in) {
		if a.out != nil && (a.out.Compacts() || a.out.Cancel) {
			a.outcome.warn("an observer's messages, summary or cancel are not taken: that is for the role compactor")
		}
		pre.take(in, a)
	}
	if d.compactor == nil {
		return pre
	}
	for _, a := range ask(ctx, d.timeout, []Plugin{d.compactor}, in) {
		pre.take(in, a)
		pre.CompactorFailed = a.outcome.Error != nil
		if a.out == nil {
			continue
		}
		switch {
		case a.out.Cancel:
			pre.Outcomes[len(pre.Outcomes)-1].warn("cancelled: %s", a.out.Reason)
		case a.out.Compacts():
			pre.Proposal, pre.Compactor = a.out, source(a.plugin)
		}
	}
	return pre
}

// take collects what any plugin may say.
func (pre *Pre) take(in *abi.Input, a answer) {
	if a.out != nil {
		name := a.outcome.Plugin
		if n := len(a.out.Retain); n > abi.MaxRetained {
			a.outcome.warn("retains %d facts: the first %d are taken", n, abi.MaxRetained)
			a.out.Retain = a.out.Retain[:abi.MaxRetained]
		}
		for _, text := range a.out.Retain {
			pre.Retained = append(pre.Retained, Fact{Plugin: name, Call: in.Call + "/" + name, Text: text})
		}
		if a.out.Inject != "" {
			pre.Injected = append(pre.Injected, abi.Insert{Kind: abi.KindInjected, Text: a.out.Inject, Source: source(a.plugin)})
		}
		for _, id := range a.out.AlwaysKeep {
			pre.AlwaysKeep = append(pre.AlwaysKeep, Keep{Plugin: name, ID: id})
		}
		if a.out.RequestCompaction != nil {
			a.outcome.warn("request_compaction is not taken during a compaction")
		}
	}
	pre.Outcomes = append(pre.Outcomes, a.outcome)
	if a.outcome.Error != nil {
		pre.Failures = append(pre.Failures, a.outcome.Error)
	}
}

// Warn adds a warning to the outcome of a plugin's call.
func (pre *Pre) Warn(plugin, text string) {
	for i := range pre.Outcomes {
		if pre.Outcomes[i].Plugin == plugin {
			pre.Outcomes[i].warn("%s", text)
		}
	}
}

// Refuse notes that the compactor's proposal was not taken, and why.
func (pre *Pre) Refuse(err *abi.Error) {
	e := *err
	e.Plugin, e.Hook = pre.Compactor.Name, abi.HookPreCompact
	pre.CompactorFailed = true
	pre.Failures = append(pre.Failures, &e)
	for i := range pre.Outcomes {
		if o := &pre.Outcomes[i]; o.Plugin == pre.Compactor.Name && o.Hook == abi.HookPreCompact {
			o.Outcome, o.Error = "refused", &e
		}
	}
}
