package kagewasm

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/firewall"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/strategies"
	"github.com/kagewasm/kagewasm/strategies/note"
	"github.com/kagewasm/kagewasm/strategies/redact"
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
		var made abi.Plan
		made, r = p.withFailures(r, func(r room) abi.Plan {
			r.note += p.opts.Counter.Text(plan.Summary)
			return p.cutOldest(proposal.Source, r)
		})
		plan.Supersede, plan.Edit = made.Supersede, made.Edit
	}
	verdict, err := p.check(plan, r)
	if err != nil {
		return nil, err
	}
	if !verdict.Met && !r.tight && !p.limits.all {
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
	plan, r := p.withFailures(p.room(v, p.limits, source), func(r room) abi.Plan { return p.cutOldest(source, r) })
	verdict, err := p.check(plan, r)
	if err != nil {
		return nil, err
	}
	if !r.tight && !p.limits.all {
		verdict = p.refill(plan, r, verdict)
	}
	p.report.Strategy, p.report.Source = strategies.NameDrop, &source
	return verdict, nil
}

func (p *pass) cutOldest(source abi.Source, r room) abi.Plan {
	room := r.note + p.injectTokens()
	plan, _ := p.cut(source, room, p.oldest(room))
	return plan
}

// maxRefills bounds how often the room that a note did not take is given to
// messages. A note of other messages may take a little more, and needs room
// for its sections.
const (
	maxRefills  = 3
	refillSlack = 64
	minSections = note.MinBudget
)

// refill keeps more of the newest messages where the note took less than the
// room it had.
func (p *pass) refill(plan abi.Plan, r room, verdict *firewall.Verdict) *firewall.Verdict {
	for range maxRefills {
		unused := r.ledger + r.failures - max(p.report.Metrics.LedgerTokens, minSections) - refillSlack
		if unused <= 0 || r.ledger-unused < minSections {
			break
		}
		r.note, r.ledger = r.note-unused, r.ledger-unused
		more := p.cutOldest(plan.Source, r)
		if len(more.Supersede) == 0 || len(more.Supersede) >= len(plan.Supersede) {
			break
		}
		was := p.report
		better, err := p.check(more, r)
		if err != nil || !better.Met {
			p.report = was
			break
		}
		plan, verdict = more, better
	}
	return p.topUp(plan, r, verdict)
}

// topUp lets the note have what no message fits into any more: at most half as
// much again as it had.
func (p *pass) topUp(plan abi.Plan, r room, verdict *firewall.Verdict) *firewall.Verdict {
	unused := p.limits.target - verdict.Tokens - refillSlack
	if p.policy.LedgerTokens != 0 || unused < refillSlack || p.report.Metrics.LedgerTokens+refillSlack < r.ledger {
		return verdict
	}
	r.ledger += min(unused, r.ledger/2)
	was := p.report
	better, err := p.check(plan, r)
	if err != nil || !better.Met {
		p.report = was
		return verdict
	}
	return better
}

// check writes the note for what the plan supersedes, adds what is injected,
// and hands the plan to the firewall. A ledger that makes the result miss the
// target or grow is written smaller, down to none.
func (p *pass) check(plan abi.Plan, r room) (*firewall.Verdict, error) {
	if len(plan.Supersede) == 0 {
		return nil, &abi.Error{Code: abi.CodeGrew, Op: "check plan", Phase: abi.PhaseCheck, Message: "the plan supersedes nothing"}
	}
	read, cost := p.read(plan.Supersede)
	budget := min(r.ledger, cost/2)
	judged, base := p.firewallCase(), append(plan.Insert, p.injected...)
	for {
		text, ledgerTokens := p.note(plan.Summary, read, budget, r.failures)
		text, _ = p.secrets.Redact(text)
		plan.Insert = append([]abi.Insert{{Kind: abi.KindSummary, Text: text, Source: plan.Source}}, base...)
		verdict, err := firewall.Apply(judged, plan)
		missed := err != nil && (abi.CodeOf(err) == abi.CodeGrew || abi.CodeOf(err) == abi.CodeOverTarget)
		if ledgerTokens > 0 && missed {
			budget, r.failures = ledgerTokens/2, 0
			continue
		}
		if err == nil {
			p.report.Summary, p.report.Metrics.LedgerTokens = text, ledgerTokens
			p.report.Metrics.Redacted = 0
			for _, in := range plan.Insert {
				p.report.Metrics.Redacted += redact.Marks(in.Text)
			}
			p.judge(read, text)
		}
		return verdict, err
	}
}

func (p *pass) firewallCase() firewall.Case {
	c := firewall.Case{
		Messages: p.messages, Pinned: p.pinned, Overhead: p.req.Overhead, Target: p.limits.target,
		Count: p.opts.Counter, Time: p.now,
	}
	if !p.limits.all || p.held != nil {
		c.Turn = p.view().Turn
	}
	return c
}

// reading is what was read off the messages that go: plans that differ in the
// note alone share it.
type reading struct {
	gone   []string
	digest *note.Note
	cost   int
}

// read reads the messages that go, and says what they cost.
func (p *pass) read(gone []string) (*note.Note, int) {
	if p.reading.digest == nil || !slices.Equal(p.reading.gone, gone) {
		msgs, stays, pruned, cost := p.originalsOf(gone)
		p.reading = reading{gone: gone, digest: note.Build(p.bare(msgs), stays, p.bare(pruned)), cost: cost}
	}
	return p.reading.digest, p.reading.cost
}

// originalsOf returns the named messages as they came, and what they cost now:
// pruning must not take names from the note. The others are as they stay; the
// units among them that pruning shortened are as they came, too.
func (p *pass) originalsOf(ids []string) (gone, stays, pruned []abi.Message, cost int) {
	named := idSet(ids)
	units, of := abi.Units(p.messages)
	short := func(i int) bool { return !p.original(i).Same(&p.messages[i]) }
	for i := range p.messages {
		switch m := &p.messages[i]; {
		case named[m.ID]:
			gone = append(gone, *p.original(i))
			cost += p.tokens[i]
			continue
		case slices.ContainsFunc(units[of[i]], short):
			pruned = append(pruned, *p.original(i))
		}
		stays = append(stays, p.messages[i])
	}
	return gone, stays, pruned, cost
}

// original is message i as it came.
func (p *pass) original(i int) *abi.Message {
	id := p.messages[i].ID
	if p.req.Original != nil {
		if m := p.req.Original(id); m != nil {
			return m
		}
	}
	return &p.originals[p.memo.index[id]]
}

// clipInjected cuts what plugins inject to what is left of the budget, in
// order, and warns where something is left out.
func (p *pass) clipInjected(pre *hooks.Pre, list []abi.Insert) []abi.Insert {
	source := abi.Source{Type: abi.SourceStrategy, Name: strategies.NameDrop}
	left := p.room(p.view(), p.limits, source).inject - p.injectTokens()
	var out []abi.Insert
	for _, in := range list {
		full := in.Text
		in.Text, _ = p.secrets.Redact(in.Text)
		left -= firewall.FrameTokens(in.Kind, in.Source, p.opts.Counter)
		in.Text = within(in.Text, left, p.opts.Counter.Text)
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
