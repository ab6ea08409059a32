package kagewasm

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/firewall"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/strategies"
	"github.com/kagewasm/kagewasm/strategies/ledger"
)

// delegated is the first of the plugins' proposals that the firewall takes, or
// nil.
func (p *pass) delegated(pre *hooks.Pre) *firewall.Verdict {
	for _, proposal := range pre.Proposals {
		verdict, err := p.delegate(pre, proposal)
		if err == nil {
			pre.Taken(proposal)
			return verdict
		}
		pre.Refuse(proposal, abi.AsError(err))
	}
	return nil
}

// delegate turns a plugin's proposal into a verdict.
func (p *pass) delegate(pre *hooks.Pre, proposal *hooks.Proposal) (*firewall.Verdict, error) {
	v := p.view()
	r := p.room(v, p.limits, proposal.Source)
	plan := abi.Plan{Source: proposal.Source, Summary: proposal.Output.Summary}
	if proposal.Output.Messages != nil {
		var err error
		if plan, err = firewall.FromOutput(p.messages, proposal.Output, proposal.Source); err != nil {
			return nil, err
		}
		plan.Insert = p.clipInjected(pre, plan.Insert)
	} else {
		if strings.TrimSpace(abi.Defuse(plan.Summary)) == "" {
			return nil, &abi.Error{Code: abi.CodeBadOutput, Op: "check plan", Phase: abi.PhaseCheck, Message: "an empty summary"}
		}
		made := p.cut(proposal.Source, p.oldest(r.note+p.opts.Counter.Text(plan.Summary)+p.injectTokens()))
		plan.Supersede, plan.Edit = made.Supersede, made.Edit
	}
	verdict, err := p.check(plan, r)
	if err != nil {
		return nil, err
	}
	// Where there is no room under the target the plan stands, if it fits the
	// window; else the floor comes closer, which cuts giants down.
	if !verdict.Met && !p.limits.all && (!r.tight || verdict.Tokens > p.limits.window) {
		return nil, &abi.Error{Code: abi.CodeOverTarget, Op: "check plan", Phase: abi.PhaseCheck,
			Message: fmt.Sprintf("%d tokens with its summary, %d allowed", verdict.Tokens, p.limits.target)}
	}
	p.report.Strategy, p.report.Source = StrategyDelegate, &proposal.Source
	return verdict, nil
}

// dropped is what the floor makes of the session, or nil.
func (p *pass) dropped(pre *hooks.Pre) *firewall.Verdict {
	verdict, err := p.drop()
	if err == nil {
		return verdict
	}
	if e := *abi.AsError(err); e.Code != abi.CodeGrew {
		e.Hint = cmp.Or(e.Hint, "a fault of the strategy drop, and not of the session: report it")
		pre.Failures = append(pre.Failures, &e)
	}
	for _, in := range p.injected {
		pre.Warn(in.Source.Name, "its text was not injected: nothing could be superseded")
	}
	return nil
}

// drop lets the oldest go: the floor.
func (p *pass) drop() (*firewall.Verdict, error) {
	v := p.view()
	source := abi.Source{Type: abi.SourceStrategy, Name: strategies.NameDrop}
	r := p.room(v, p.limits, source)
	plan := p.cut(source, p.oldest(r.note+p.injectTokens()))
	verdict, err := p.check(plan, r)
	if err == nil {
		p.report.Strategy, p.report.Source = strategies.NameDrop, &source
	}
	return verdict, err
}

// check writes the note for what the plan supersedes, adds what is injected,
// and hands the plan to the firewall. A ledger that makes the result miss the
// target or grow is written smaller, down to none.
func (p *pass) check(plan abi.Plan, r room) (*firewall.Verdict, error) {
	if len(plan.Supersede) == 0 {
		return nil, &abi.Error{Code: abi.CodeGrew, Op: "check plan", Phase: abi.PhaseCheck, Message: "the plan supersedes nothing"}
	}
	gone, cost := p.originalsOf(plan.Supersede)
	names := ledger.Build(gone)
	budget := min(r.ledger, cost/2)
	judged, base := p.firewallCase(), append(plan.Insert, p.injected...)
	for {
		text, ledgerTokens := p.note(plan.Summary, names, budget)
		text, secrets := p.secrets.Redact(text)
		plan.Insert = append([]abi.Insert{{Kind: abi.KindSummary, Text: text, Source: plan.Source}}, base...)
		verdict, err := firewall.Apply(judged, plan)
		missed := err != nil && (abi.CodeOf(err) == abi.CodeGrew || abi.CodeOf(err) == abi.CodeOverTarget)
		if ledgerTokens > 0 && missed {
			budget = ledgerTokens / 2
			continue
		}
		if err == nil {
			p.report.Summary, p.report.Metrics.LedgerTokens = text, ledgerTokens
			p.report.Metrics.Redacted += secrets
		}
		return verdict, err
	}
}

func (p *pass) firewallCase() firewall.Case {
	c := firewall.Case{
		Messages: p.messages, Pinned: p.pinned, Overhead: p.req.Overhead, Target: p.limits.target,
		Count: p.opts.Counter, Time: p.now,
	}
	if !p.limits.all {
		c.Turn = abi.CurrentTurn(p.messages)
	}
	return c
}

// originalsOf returns the named messages as they came, and what they cost now:
// pruning must not take names from the ledger.
func (p *pass) originalsOf(ids []string) (msgs []abi.Message, cost int) {
	named := idSet(ids)
	for i := range p.messages {
		if named[p.messages[i].ID] {
			msgs = append(msgs, p.originals[p.memo.index[p.messages[i].ID]])
			cost += p.tokens[i]
		}
	}
	return msgs, cost
}

// clipInjected cuts what plugins inject to what is left of the budget, in
// order, and warns where something is left out.
func (p *pass) clipInjected(pre *hooks.Pre, list []abi.Insert) []abi.Insert {
	source := abi.Source{Type: abi.SourceStrategy, Name: strategies.NameDrop}
	left := p.room(p.view(), p.limits, source).inject - p.injectTokens()
	var out []abi.Insert
	for _, in := range list {
		full := in.Text
		in.Text = p.withoutSecrets(in.Text)
		left -= firewall.FrameTokens(in.Kind, in.Source, p.opts.Counter)
		in.Text = clip(in.Text, left, p.opts.Counter.Text)
		switch {
		case in.Text == "":
			pre.Warn(in.Source.Name, "no room for the injected text: it was left out")
			continue
		case len(in.Text) < len(strings.TrimSpace(full)):
			pre.Warn(in.Source.Name, "the injected text was cut to its token budget")
		}
		left -= p.opts.Counter.Text(in.Text)
		out = append(out, in)
	}
	return out
}

// injectTokens is what the injected messages cost.
func (p *pass) injectTokens() int {
	n := 0
	for _, in := range p.injected {
		n += firewall.FrameTokens(in.Kind, in.Source, p.opts.Counter) + p.opts.Counter.Text(in.Text)
	}
	return n
}
