package abitest

import (
	"cmp"
	"fmt"

	"github.com/kagewasm/kagewasm/abi"
)

// summaryShare is what part of the target a summary may cost at most, and
// summaryMost how many tokens.
const (
	summaryShare = 4
	summaryMost  = 1500
)

// NewInput is the input of pre_compact for a session, as a host would make it:
// ids where the messages have none, pins, units, tokens (estimated), and the
// defaults of the manifest's knobs. target is in tokens; 0 is 60% of what the
// session has.
func NewInput(m *abi.Manifest, msgs []abi.Message, target int) *abi.Input {
	in := &abi.Input{
		ABI: abi.Version, Call: "c1", Time: "2026-11-21T14:02:05Z", Hook: abi.HookPreCompact,
		Session:  abi.Session{ID: "s1", Model: "test-model"},
		Roles:    m.Roles,
		Messages: make([]abi.InputMessage, 0, len(msgs)),
	}
	_, unit := abi.Units(msgs)
	pinned := abi.Pinned(msgs)
	total := 0
	for i, msg := range msgs {
		msg.ID = cmp.Or(msg.ID, fmt.Sprintf("m%05d", i))
		tokens := estimate(&msg)
		total += tokens
		in.Messages = append(in.Messages, abi.InputMessage{Message: msg, Tokens: tokens, Pinned: pinned[i], Unit: unit[i]})
		if msg.Kind == abi.KindSummary {
			in.PreviousSummary = msg.Text()
		}
	}
	if target <= 0 {
		target = total * 6 / 10
	}
	window := max(total*10/9, 1)
	in.Session.ContextWindow = &window
	fraction := float64(total) / float64(window)
	in.Trigger = abi.Trigger{Reason: abi.TriggerThreshold, Tokens: total, Fraction: fraction, Upper: 0.85, Lower: 0.60}
	in.Budget = abi.Budget{TargetTokens: target, SummaryTokens: min(target/summaryShare, summaryMost)}
	// Knobs without a default have no value; Configure of nothing cannot fail.
	in.Config, _ = m.Configure(nil)
	return in
}

// estimate counts a message: a token for 4 bytes, and 4 for the frame.
func estimate(m *abi.Message) int {
	n := len(m.Text())
	for _, c := range m.ToolCalls {
		n += len(c.Name) + len(c.Arguments)
	}
	for _, p := range m.Content.Parts() {
		if p.Type != "text" {
			n += imageBytes
		}
	}
	return 4 + estimateText(n)
}

// imageBytes stands for whatever is no text.
const imageBytes = 4000

func estimateText(n int) int { return (n + 3) / 4 }

// slack is what an estimate may be off from the tokenizer that the plugin
// asked: a quarter.
func slack(tokens int) int { return tokens + tokens/4 }
