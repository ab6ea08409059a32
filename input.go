package kagewasm

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/firewall"
	"github.com/kagewasm/kagewasm/hooks"
)

// hookInput is what plugins are given about a list of messages.
func (p *pass) hookInput(hook abi.Hook, msgs []abi.Message, tokens []int, pinned []bool) *abi.Input {
	source := abi.Source{Type: abi.SourcePlugin, Name: strings.Repeat("x", 32)}
	room := p.room(p.view(), p.limits, source)
	reserved := p.req.Overhead + room.note
	if p.hooks.HasObservers() {
		reserved += room.inject
	}
	least := 1
	if p.limits.all {
		least = 0
	}
	in := &abi.Input{
		ABI: abi.Version, Call: p.callID(hook), Time: p.now, Hook: hook, Session: p.req.Session,
		Trigger: abi.Trigger{
			Reason: p.req.Reason, Tokens: p.total, Fraction: float64(p.total) / float64(p.limits.window),
			Upper: p.limits.upperShare, Lower: p.limits.lowerShare, Forced: p.req.Force, KeepLast: p.keepsLast(), DryRun: p.req.DryRun, Instructions: p.req.Instructions,
		},
		Budget: abi.Budget{
			TargetTokens:  max(least, p.limits.target-reserved),
			SummaryTokens: max(0, room.inject-firewall.FrameTokens(abi.KindInjected, source, p.opts.Counter)),
		},
		Messages: make([]abi.InputMessage, len(msgs)),
	}
	_, unit := abi.Units(msgs)
	for i := range msgs {
		in.Messages[i] = abi.InputMessage{Message: msgs[i], Tokens: tokens[i], Pinned: pinned[i], Unit: unit[i]}
		if msgs[i].Kind == abi.KindSummary {
			in.PreviousSummary = msgs[i].Text()
			if text, ok := abi.Unfence(in.PreviousSummary); ok {
				in.PreviousSummary = text
			}
		}
	}
	return in
}

// callID tells this call from all others: by session, time and hook.
func (p *pass) callID(hook abi.Hook) string {
	h := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s\x00%s", p.req.Session.ID, p.req.Session.AgentPath, p.start.Format(time.RFC3339Nano), hook))
	return hex.EncodeToString(h[:6])
}

// pinnedIn marks which of the messages this pass took for pinned.
func (p *pass) pinnedIn(msgs []abi.Message) []bool {
	ids := make(map[string]bool)
	for i := range p.messages {
		if p.pinned[i] {
			ids[p.messages[i].ID] = true
		}
	}
	pinned := make([]bool, len(msgs))
	for i := range msgs {
		pinned[i] = ids[msgs[i].ID]
	}
	return pinned
}

// remember stores what plugins retain in a hook, but for a dry run, and returns
// what could not be stored.
func (p *pass) remember(ctx context.Context, hook abi.Hook, facts []hooks.Fact) []*abi.Error {
	p.facts = append(p.facts, facts...)
	if p.req.DryRun {
		return nil
	}
	failures := p.retain(ctx, p.req.Session, p.now, facts)
	for i, e := range failures {
		failures[i] = e.At(e.Plugin, hook, abi.PhaseCommit)
		failures[i].Hint = cmp.Or(e.Hint, "look at the store of the plugins' data; the compaction went on without")
	}
	return failures
}

func (p *pass) blankReport() Report {
	return Report{
		Window: p.limits.window, ContextWindow: p.req.Session.ContextWindow, Model: p.req.Session.Model,
		Upper: p.limits.upperShare, Lower: p.limits.lowerShare, Target: p.limits.target, DryRun: p.req.DryRun,
		TokensBefore: p.before, MessagesBefore: len(p.originals),
	}
}

// normalize makes empty lists of missing ones, so that the JSON document
// always has the same shape.
func (r *Report) normalize() {
	for _, list := range []*[]string{&r.Superseded, &r.Kept, &r.Inserted, &r.Pinned, &r.Pruned.IDs} {
		*list = nonNil(*list)
	}
	r.Failures = nonNil(r.Failures)
	r.Hooks = nonNil(r.Hooks)
}

func nonNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
