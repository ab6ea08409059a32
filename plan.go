package kagewasm

import (
	"cmp"
	"context"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/strategies"
	"github.com/kagewasm/kagewasm/strategies/redact"
)

// planned is what the plan stage came to.
type planned struct {
	// taken is the plan that the firewall took, strategy who made it; nil where
	// there is none.
	taken    *attempt
	strategy string
	// fallback: somebody else's plan was to be used, and failed.
	fallback bool
	// outcomes are those of the plugins' calls before the compaction, failures
	// the whole chain.
	outcomes []hooks.Outcome
	failures []*abi.Error
	// usage is what the model took that wrote the summary, or was to; nil where
	// none was asked.
	usage *abi.ModelUsage
	model string
}

// candidate is a strategy in the order in which they are asked.
type candidate struct {
	strategies.Strategy
	name   string     // in reports
	source abi.Source // who makes the plan, as far as that is known before
	plugin string     // whose proposal it is, if it is one
	floor  bool       // nothing comes after it, and it cannot fail
}

// dropSource is who makes the floor's plan.
var dropSource = abi.Source{Type: abi.SourceStrategy, Name: StrategyDrop}

// candidates are the strategies to ask, in order: what plugins propose, the
// compactor's first; then the host's own strategy that the policy names, or a
// model; then the floor.
func candidates(l *look, proposals []hooks.Proposal) []candidate {
	drop := strategies.Drop{Keep: l.policy.Keep, ProtectedTools: l.policy.Prune.ProtectedTools}
	var list []candidate
	for _, p := range proposals {
		list = append(list, candidate{Strategy: strategies.Delegate{Drop: drop, Output: p.Output, Source: p.Source},
			name: StrategyDelegate, source: p.Source, plugin: p.Source.Name})
	}
	name := l.policy.Strategy
	switch own, why := l.own(), unavailable(l); {
	case own != nil:
		list = append(list, candidate{Strategy: own, name: name, source: abi.Source{Type: abi.SourceStrategy, Name: name}})
	case l.summarizes():
		list = append(list, candidate{Strategy: l.summarize(drop), name: StrategySummarize,
			source: abi.Source{Type: abi.SourceModel, Name: l.summarizer()}})
	case why != nil:
		list = append(list, candidate{Strategy: failing{why}, name: name})
	}
	if !l.policy.NoFloor {
		list = append(list, candidate{Strategy: drop, name: StrategyDrop, source: dropSource, floor: true})
	}
	return list
}

// own is the host's own strategy that the policy names, or nil.
func (l *look) own() strategies.Strategy { return l.opts.Strategies[l.policy.Strategy] }

// summarizes reports whether a model may be asked for a summary.
func (l *look) summarizes() bool {
	return l.opts.Model != nil && !l.policy.Summarize.Off && l.policy.Strategy != StrategyDelegate && l.own() == nil
}

// summarize is the strategy that asks the model.
func (l *look) summarize(drop strategies.Drop) strategies.Summarize {
	s := strategies.Summarize{Drop: drop, Config: l.policy.Summarize, Model: l.opts.Model, Focus: l.req.Instructions}
	s.Config.Model = l.summarizer()
	s.Window = l.opts.Lookup(s.Config.Model).ContextWindow
	if s.Window == nil && s.Config.Model == l.req.Session.Model {
		s.Window = l.req.Session.ContextWindow
	}
	return s
}

// summarizer is the alias of the model that writes summaries: the fast one
// where no person asked, the agent's own where none is named.
func (l *look) summarizer() string {
	s := &l.policy.Summarize
	if s.FastModel != "" && l.req.Reason != abi.TriggerManual {
		return s.FastModel
	}
	return cmp.Or(s.Model, l.req.Session.Model)
}

// failing is a strategy that cannot be followed, and says why.
type failing struct{ why error }

func (f failing) Plan(context.Context, *strategies.View, strategies.Budget) (abi.Plan, error) {
	return abi.Plan{}, f.why
}

// unavailable says why the strategy that was asked for cannot be followed, where
// it names somebody who is not there.
func unavailable(l *look) error {
	e := &abi.Error{Code: abi.CodeNoCompactor, Op: l.policy.Strategy, Phase: abi.PhaseCall}
	switch {
	case l.policy.Strategy == StrategyDelegate && !l.hooks.HasCompactor():
		e.Message, e.Hint = "no compactor plugin is loaded", "load one, or choose another strategy"
	case l.policy.Strategy == StrategySummarize && l.policy.Summarize.Off:
		e.Message, e.Hint = "summaries are switched off", "switch them on, or choose another strategy"
	case l.policy.Strategy == StrategySummarize:
		e.Message = "no model to write a summary"
		e.Hint = "configure one; what can be read off the session stands in its place"
	default:
		return nil
	}
	return e
}

// plan asks the strategies in order until the firewall takes a plan. Each
// failure is kept. None is taken where no plan makes the session smaller, and
// where plugins cancelled.
func plan(ctx context.Context, l *look, v *strategies.View, s said, secrets *redact.Redactor) planned {
	out, taken, remarks := planned{fallback: s.Fallback}, "", s.remarks
	if !s.Cancelled {
		p := l.planner(v, secrets)
		var cut []hooks.Remark
		p.injected, cut = p.clipped(s.Injected)
		remarks = append(remarks, cut...)
		for _, c := range candidates(l, s.Proposals) {
			a, cut, err := p.try(ctx, c)
			remarks = append(remarks, cut...)
			if a.plan.Usage != nil {
				out.usage, out.model = a.plan.Usage, a.plan.Source.Name
			}
			if err == nil {
				out.taken, out.strategy, taken = &a, c.name, c.plugin
				break
			}
			e := *abi.AsError(err)
			switch {
			case c.plugin != "":
				remarks = append(remarks, hooks.Remark{Plugin: c.plugin, Refused: &e})
			case c.floor:
				if e.Code != abi.CodeGrew {
					e.Hint = cmp.Or(e.Hint, "a fault of the strategy drop, and not of the session: report it")
					out.failures = append(out.failures, &e)
				}
				for _, in := range p.injected {
					remarks = append(remarks, hooks.Remark{Plugin: in.Source.Name,
						Warning: "its text was not injected: nothing could be superseded"})
				}
			default:
				e.Op = cmp.Or(e.Op, c.name)
				out.failures = append(out.failures, &e)
			}
			out.fallback = out.fallback || !c.floor
		}
	}
	outcomes, failures := s.Settle(taken, remarks)
	out.outcomes, out.failures = outcomes, append(failures, out.failures...)
	return out
}
