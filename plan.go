package kagewasm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/strategies"
)

// planned is the result of the plan stage.
type planned struct {
	// taken is the plan that the firewall accepted, nil where there is none. strategy is who made it.
	taken    *attempt
	strategy string
	// fallback: a plan of another strategy or of a plugin was to be used, and failed.
	fallback bool
	// failed: a strategy or a plugin could not make a plan, though there was something to make it of.
	failed bool
	// little says that what the floor would free is not worth what is lost by it. It is empty where it
	// is worth that.
	little string
	// outcomes are the outcomes of the plugins' calls before the compaction, failures the whole chain.
	outcomes []hooks.Outcome
	failures []*abi.Error
	// usage is the usage of the model that wrote the summary, or was asked for one; nil where none was
	// asked.
	usage *abi.ModelUsage
	model string
}

// candidate is a strategy to be asked, with what is known of its plan before.
type candidate struct {
	strategies.Strategy
	name   string     // in reports
	source abi.Source // who makes the plan, as far as that is known before it is made
	plugin string     // the plugin that proposed it, if one did
	floor  bool       // nothing comes after it, and it cannot fail
}

// strategy is one that a policy can name.
type strategy struct {
	name string
	// candidate returns the candidate that is asked after what plugins proposed and before the floor.
	// Its Strategy is nil where nobody is to be asked. The error says why a model or a plugin that
	// should be asked cannot be.
	candidate func(l *look, drop strategies.Drop) (candidate, error)
	// waits: a person decides whether its compaction is stored.
	waits bool
}

// shipped returns the strategies that ship, the default first. To add one, add it here.
func shipped() []strategy {
	return []strategy{
		{name: StrategyDrop, candidate: modelWhereThereIsOne},
		{name: StrategySummarize, candidate: modelOrWhyNot},
		{name: StrategyDelegate, candidate: compactorOrWhyNot},
		{name: StrategyCheckpoint, candidate: modelWhereThereIsOne, waits: true},
	}
}

// Strategies returns the names of all strategies that ship, the default first.
func Strategies() []string {
	return lists.Map(shipped(), func(s strategy) string { return s.name })
}

// strategy returns the strategy that the policy names: the host's own, or one that ships.
func (l *look) strategy() strategy {
	name := l.policy.Strategy
	if own := l.opts.Strategies[name]; own != nil {
		source := abi.Source{Type: abi.SourceStrategy, Name: name}
		return strategy{name: name, candidate: func(*look, strategies.Drop) (candidate, error) {
			return candidate{Strategy: own, name: name, source: source}, nil
		}}
	}
	list := shipped()
	i := slices.IndexFunc(list, func(s strategy) bool { return s.name == name })
	return list[i] // checked with the policy
}

// candidates returns the strategies to ask, in order: what plugins propose, the compactor's first; then
// the strategy that the policy names; then the floor.
func candidates(l *look, proposals []hooks.Proposal) []candidate {
	drop := floorOf(l)
	var list []candidate
	for _, p := range proposals {
		list = append(list, candidate{Strategy: strategies.Delegate{Drop: drop, Output: p.Output, Source: p.Source},
			name: StrategyDelegate, source: p.Source, plugin: p.Source.Name})
	}
	switch c, err := l.strategy().candidate(l, drop); {
	case err != nil:
		list = append(list, candidate{Strategy: failing{err}, name: l.policy.Strategy})
	case c.Strategy != nil:
		list = append(list, c)
	}
	if !l.policy.NoFloor {
		list = append(list, candidate{Strategy: drop, name: StrategyDrop, source: strategies.DropSource, floor: true})
	}
	return list
}

// floorOf returns the strategy drop as the policy has it.
func floorOf(l *look) strategies.Drop {
	return strategies.Drop{Keep: l.policy.Keep, ProtectedTools: l.policy.Prune.ProtectedTools,
		PreserveRecent: l.policy.Summarize.PreserveRecent}
}

// named returns the strategy that the policy names, or nil where it leaves all to plugins and the
// floor.
func (l *look) named() strategies.Strategy {
	c, err := l.strategy().candidate(l, strategies.Drop{})
	if err != nil {
		return nil
	}
	return c.Strategy
}

// nobodyCompacts reports whether only pruning happens: the floor is switched
// off, and there is neither a model, a strategy of the host nor a compactor
// plugin.
func nobodyCompacts(l *look) bool {
	return l.policy.NoFloor && l.named() == nil && !l.hooks.HasCompactor()
}

// leftAlone returns why the model that summarizes is not asked for a while, nil where there is none.
func leftAlone(l *look) *abi.Error {
	if _, err := l.strategy().candidate(l, strategies.Drop{}); abi.CodeOf(err) == abi.CodeQuarantined {
		return abi.AsError(err)
	}
	return nil
}

// noCompactor returns an error where nobody can compact and the provider has refused the request
// already; why is set where that is as the model is left alone. Otherwise pruning alone is no error.
func noCompactor(l *look, why *abi.Error) error {
	if l.req.Reason != abi.TriggerOverflow {
		return nil
	}
	if why != nil {
		why = l.bareError(why)
		return &abi.Error{Code: abi.CodeNoCompactor, Op: "compact", Err: why,
			Message: "the request is too long, and nobody can compact it now: " + why.Message +
				", and the floor is switched off",
			Hint: why.Hint + ", or switch no_floor off"}
	}
	return &abi.Error{Code: abi.CodeNoCompactor, Op: "compact",
		Message: "the request is too long, and nobody can compact it: no model for summaries, no compactor plugin, and " +
			"the floor is switched off",
		Hint: "give the agent a summarizing model or a compactor plugin, or switch no_floor off"}
}

// summarizes reports whether a model may be asked for a summary.
func (l *look) summarizes() bool {
	_, ok := l.named().(strategies.Summarize)
	return ok
}

func modelWhereThereIsOne(l *look, drop strategies.Drop) (c candidate, err error) {
	if l.opts.Model == nil || l.policy.Summarize.Off {
		return c, nil
	}
	if l.futile() && !l.req.Force {
		return c, nil // the warning said so
	}
	if err := l.memo.declined.open(l.summarizer(), l.start); err != nil && l.req.Reason != abi.TriggerManual {
		return c, err
	}
	return candidate{Strategy: l.summarize(drop), name: StrategySummarize, source: summarizerOf(l)}, nil
}

func modelOrWhyNot(l *look, drop strategies.Drop) (c candidate, err error) {
	switch {
	case l.policy.Summarize.Off:
		return c, notThere(l, "summaries are switched off", "switch them on, or choose another strategy")
	case l.opts.Model == nil:
		return c, notThere(l, "no model to write a summary",
			"configure one; what can be read off the session stands in its place")
	}
	return modelWhereThereIsOne(l, drop)
}

// compactorOrWhyNot asks nobody but the compactor, whose proposal comes first
// with every strategy.
func compactorOrWhyNot(l *look, _ strategies.Drop) (c candidate, err error) {
	if !l.hooks.HasCompactor() {
		return c, notThere(l, "no compactor plugin is loaded", "load one, or choose another strategy")
	}
	return c, nil
}

// declined are models whose answers a session refused, by alias: a breaker that
// keeps it from paying for the same again at each compaction.
type declined map[string]*declining

type declining struct {
	calls int // that led to nothing in the last compaction
	why   string
	wait  time.Duration
	until time.Time
}

// A model is left alone at first for declinedFor, or failedFor where it did not answer, and twice as long
// after each compaction that it fails again, up to declinedMost.
const (
	declinedFor  = 5 * time.Minute
	failedFor    = time.Minute
	declinedMost = time.Hour
)

// open returns an error where a model is not to be asked now, and nil where it may be. A person who
// asks for a compaction may always try.
func (d declined) open(alias string, now time.Time) error {
	m := d[alias]
	if m == nil || !now.Before(m.until) {
		return nil
	}
	said := "it wrote no summary in the last compaction that asked it"
	if m.calls > 1 {
		said += fmt.Sprintf(", in %d calls; at last", m.calls)
	}
	return &abi.Error{Code: abi.CodeQuarantined, Op: StrategySummarize, Phase: abi.PhaseCall,
		Message: fmt.Sprintf("%s is not asked until %s: %s: %s", cmp.Or(alias, "the model"),
			m.until.UTC().Format(time.RFC3339), said, m.why),
		Hint: "choose another model or prompt for summaries; a compaction by hand asks it all the same"}
}

// heard notes how a model answered. Several calls in one compaction that led to nothing open the breaker,
// and one that took all the time; a summary closes it, and anything else changes nothing.
func (d declined) heard(alias string, usage abi.ModelUsage, err error, now time.Time) {
	wait := time.Duration(0)
	switch abi.CodeOf(err) {
	case "":
		delete(d, alias)
		return
	case abi.CodeBadSummary:
		wait = declinedFor
	case abi.CodeModel, abi.CodeRateLimited, abi.CodeOverloaded, abi.CodeNetwork, abi.CodeDeadline:
		wait = failedFor
	}
	if wait == 0 || usage.Calls < 2 && abi.CodeOf(err) != abi.CodeDeadline {
		return
	}
	m := d[alias]
	if m == nil {
		m = &declining{}
		d[alias] = m
	}
	m.wait = max(wait, min(2*m.wait, declinedMost))
	m.calls, m.why, m.until = usage.Calls, abi.AsError(err).Message, now.Add(m.wait)
}

// notThere returns the error where the policy names a strategy whose model or plugin is not there.
func notThere(l *look, message, hint string) error {
	return &abi.Error{Code: abi.CodeNoCompactor, Op: l.policy.Strategy, Phase: abi.PhaseCall, Message: message, Hint: hint}
}

// summarize returns the strategy that asks the model.
func (l *look) summarize(drop strategies.Drop) strategies.Summarize {
	s := strategies.Summarize{Drop: drop, Config: l.policy.Summarize, Model: l.hearing, Focus: l.req.Instructions}
	s.Config.Model = l.summarizer()
	s.Window = l.opts.Lookup(s.Config.Model).ContextWindow
	if s.Window == nil && s.Config.Model == l.req.Session.Model {
		s.Window = l.req.Session.ContextWindow
	}
	if s.Window = l.windows.Within(s.Window, s.Config.Model); s.Window != nil {
		s.Window = new(l.scale(s.Config.Model).counted(*s.Window))
	}
	return s
}

// summarizer returns the alias of the model that writes summaries: the fast one where no person asked,
// the agent's own where none is named.
func (l *look) summarizer() string {
	s := &l.policy.Summarize
	if s.FastModel != "" && l.req.Reason != abi.TriggerManual {
		return s.FastModel
	}
	return cmp.Or(s.Model, l.req.Session.Model)
}

// summarizerOf names who writes summaries.
func summarizerOf(l *look) abi.Source {
	return abi.Source{Type: abi.SourceModel, Name: l.summarizer()}
}

// failing is a strategy that cannot be followed, and says why.
type failing struct{ why error }

func (f failing) Plan(context.Context, *strategies.View, strategies.Budget) (abi.Plan, error) {
	return abi.Plan{}, f.why
}

// refused notes that a candidate has no plan that the firewall accepts, and returns what plugins are
// told of it.
func (out *planned) refused(c candidate, err error, injected []abi.Insert) (remarks []hooks.Remark) {
	e := *abi.AsError(err)
	out.fallback = out.fallback || !c.floor
	out.failed = out.failed || !c.floor && !errors.Is(err, strategies.ErrNothing)
	switch {
	case c.plugin != "":
		return []hooks.Remark{{Plugin: c.plugin, Refused: &e}}
	case !c.floor:
		e.Op = cmp.Or(e.Op, c.name)
		out.failures = append(out.failures, &e)
		return nil
	case errors.Is(err, errLittle):
		out.little = e.Message
	case e.Code != abi.CodeGrew:
		e.Hint = cmp.Or(e.Hint, "a fault of the strategy drop, and not of the session: report it")
		out.failures = append(out.failures, &e)
	}
	return lists.Map(injected, func(in abi.Insert) hooks.Remark {
		return hooks.Remark{Plugin: in.Source.Name, Warning: "its text was not injected: nothing could be superseded"}
	})
}

// plan asks the strategies in order until the firewall takes a plan. Each
// failure is kept. None is taken where no plan makes the session smaller, and
// where plugins cancelled.
func plan(ctx context.Context, p *planner, pre preCompacted) planned {
	out, taken, remarks := planned{fallback: pre.Fallback, failed: pre.Fallback}, "", pre.remarks
	if !pre.Cancelled {
		l := p.look
		var more []hooks.Remark
		p.injected, more = p.clipped(ctx, pre.Injected)
		remarks = append(remarks, more...)
		proposals := pre.Proposals
		if l.req.Overrides.byHand() {
			proposals = nil
		}
		for _, c := range candidates(l, proposals) {
			a, more, err := p.try(ctx, c)
			remarks = append(remarks, more...)
			if a.plan.Usage != nil {
				out.usage, out.model = a.plan.Usage, a.plan.Source.Name
				l.learnWindow(l.summarizer(), a.plan.Window)
				if canceled(ctx) == nil { // else the caller's time was short, which says nothing of the model
					l.memo.declined.heard(l.summarizer(), *a.plan.Usage, err, l.start)
				}
			}
			if err == nil {
				out.taken, out.strategy, taken = &a, c.name, c.plugin
				out.failures = append(out.failures, a.plan.Failures...)
				break
			}
			remarks = append(remarks, out.refused(c, err, p.injected)...)
		}
	}
	outcomes, failures := pre.Settle(taken, remarks)
	out.outcomes, out.failures = outcomes, slices.Concat(failures, out.failures, *p.faults)
	return out
}

// heldBeside returns how many tokens of the target a plugin that answers with a list must leave for that.
func (p *planner) heldBeside(ctx context.Context) int {
	b := strategies.NewBudget(p.view, p.look.policy.Note, longestSource)
	if b.Beside == 0 || !p.look.hooks.HasCompactor() {
		return 0
	}
	return min(b.Beside, p.needBeside(ctx, strategies.Cut(p.view, b.Note, p.look.policy.Keep), nil, longestSource.Type))
}
