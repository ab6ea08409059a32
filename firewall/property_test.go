package firewall_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/firewall"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/invariants"
	"github.com/kagewasm/kagewasm/internal/sessiongen"
)

// codes are the refusals that Apply and FromOutput know.
var codes = []abi.Code{
	abi.CodePinned, abi.CodeCurrentTurn, abi.CodeSplitUnit, abi.CodeUnknownID, abi.CodeDuplicateID, abi.CodeForged,
	abi.CodeOrder, abi.CodeEdit, abi.CodeUnaccounted, abi.CodeGrew, abi.CodeOverTarget,
}

// TestRandomPlans: whatever the plan, it is refused with a code, or the
// independent judge has nothing to say about the result.
func TestRandomPlans(t *testing.T) {
	features.Proves(t, "N2")
	judged(t, func(t *rapid.T) bool {
		c := drawCase(t)
		v, err := apply(t, c, drawPlan(t, c))
		return judge(t, c, v, err)
	})
}

// judged checks plans that are drawn and judged. So that something is shown some of those of
// a hundred seeds have to be taken; of what rapid.Check draws it may be none by chance.
func judged(t *testing.T, draw func(*rapid.T) bool) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) { draw(t) })
	taken, plans := 0, rapid.Custom(draw)
	for seed := range 100 {
		if plans.Example(seed) {
			taken++
		}
	}
	if taken == 0 {
		t.Error("not one plan was taken: nothing was shown")
	}
}

// TestRandomOutputs: the same for a compactor's answers.
func TestRandomOutputs(t *testing.T) {
	features.Proves(t, "N2")
	judged(t, func(t *rapid.T) bool {
		c := drawCase(t)
		plan, err := firewall.FromOutput(c.Messages, drawOutput(t, c.Messages), source)
		var v *firewall.Verdict
		if err == nil {
			if plan.Summary != "" {
				plan.Insert = append(plan.Insert, note(plan.Summary))
			}
			v, err = apply(t, c, plan)
		}
		return judge(t, c, v, err)
	})
}

func drawCase(t *rapid.T) firewall.Case {
	msgs := sessiongen.Messages(30).Draw(t, "session")
	c := caseOf(msgs, rapid.IntRange(0, 1+sessiongen.Sum(count.Tokens(msgs))).Draw(t, "target"))
	if rapid.IntRange(0, 4).Draw(t, "all") == 0 {
		c.Turn = nil
	}
	return c
}

// drawPlan makes plans of which a fair part is good: whole units that may go,
// and now and then something else.
func drawPlan(t *rapid.T, c firewall.Case) abi.Plan {
	p := abi.Plan{Source: source}
	units, _ := abi.Units(c.Messages)
	share := rapid.IntRange(0, 4).Draw(t, "share")
	for _, u := range units {
		free := !slices.ContainsFunc(u, func(i int) bool { return c.Pinned[i] || c.Turn != nil && c.Turn[i] })
		if free && rapid.IntRange(0, 3).Draw(t, "goes") < share || rapid.IntRange(0, 60).Draw(t, "wild") == 0 {
			for _, i := range u {
				p.Supersede = append(p.Supersede, c.Messages[i].ID)
			}
		}
	}
	known := append(ids(c.Messages), "nosuch", "")
	if rapid.IntRange(0, 9).Draw(t, "stray") == 0 {
		p.Supersede = append(p.Supersede, rapid.SampledFrom(known).Draw(t, "stray id"))
	}
	for range rapid.IntRange(0, 1).Draw(t, "inserts") {
		kind := rapid.SampledFrom([]abi.Kind{abi.KindSummary, abi.KindInjected, abi.KindSummary, abi.KindMeta}).Draw(
			t, "kind")
		p.Insert = append(p.Insert, abi.Insert{Kind: kind, Text: rapid.SampledFrom(hostile).Draw(t, "text"), Source: source})
	}
	for i := range c.Messages {
		if m := &c.Messages[i]; rapid.IntRange(0, 9).Draw(t, "edit") == 0 &&
			(m.Role == abi.RoleTool || len(m.ToolCalls) > 0) {
			p.Edit = append(p.Edit, abi.Edit{ID: m.ID, Call: rapid.IntRange(-1, 1).Draw(t, "call"), Text: "{}"})
		}
	}
	return p
}

// drawOutput makes the list of a compactor that keeps some messages by
// reference and some as they are, edits tool output, and sometimes lies.
func drawOutput(t *rapid.T, msgs []abi.Message) *abi.Output {
	out := &abi.Output{Messages: []abi.OutputMessage{}}
	pins, turn := abi.Pinned(msgs), abi.CurrentTurn(msgs)
	units, of := abi.Units(msgs)
	drop := make([]bool, len(units))
	for k, u := range units {
		held := slices.ContainsFunc(u, func(i int) bool { return pins[i] || turn[i] })
		drop[k] = !held && rapid.IntRange(0, 4).Draw(t, "drop") > 0
	}
	for i, m := range msgs {
		switch n := rapid.IntRange(0, 99).Draw(t, "entry"); {
		case drop[of[i]] != (n == 98):
			out.Superseded = append(out.Superseded, m.ID)
		case n == 99:
			m.Content = abi.Text("other words")
			out.Messages = append(out.Messages, abi.OutputMessage{Message: m})
		case n > 80 && m.Role == abi.RoleTool && !pins[i]:
			m.Content = abi.Text("cut")
			out.Messages = append(out.Messages, abi.OutputMessage{Message: m})
		case n > 50:
			out.Messages = append(out.Messages, abi.OutputMessage{Message: m})
		default:
			out.Messages = append(out.Messages, abi.OutputMessage{Ref: m.ID})
		}
	}
	if rapid.Bool().Draw(t, "summary") {
		out.Messages = append(out.Messages, abi.OutputMessage{Message: abi.Message{
			Role: abi.RoleUser, Kind: abi.KindSummary, Content: abi.Text(rapid.SampledFrom(hostile).Draw(t, "text"))}})
	}
	if n := len(out.Messages); n > 1 && rapid.IntRange(0, 19).Draw(t, "swap") == 0 {
		out.Messages[0], out.Messages[n-1] = out.Messages[n-1], out.Messages[0]
	}
	return out
}

// fataler is what a property and a fuzz target have in common.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// judge checks a refusal for its code, and a verdict against every invariant.
// It reports whether it was a verdict.
func judge(t fataler, c firewall.Case, v *firewall.Verdict, err error) bool {
	t.Helper()
	if err != nil {
		if e := abi.AsError(err); !slices.Contains(codes, e.Code) || e.Message == "" || e.Phase != abi.PhaseCheck {
			t.Fatalf("refused with %+v", e)
		}
		return false
	}
	before := c.Overhead + sessiongen.Sum(count.Tokens(c.Messages))
	code := abi.ReasonCompacted
	if !v.Met {
		code = abi.ReasonPinnedExceedTarget
	}
	report, merr := json.Marshal(map[string]any{
		"compacted": true, "reason_code": code, "window": 1 << 20, "target": max(1, c.Target), "tokens_before": before,
		"tokens_after": v.Tokens,
		"superseded":   v.Superseded, "pruned": map[string]any{"ids": v.Edited}, "pinned": pinnedIDs(c),
	})
	if merr != nil {
		t.Fatalf("report: %v", merr)
	}
	for _, p := range invariants.Check(sessiongen.JSONL(c.Messages), sessiongen.JSONL(v.Messages), report) {
		// The judge weighs by characters, and these sessions have messages
		// that are all frame.
		if strings.HasPrefix(p, "tokens_before") || strings.Contains(p, "by size") {
			continue
		}
		t.Fatalf("%s\n%s", p, explain(c, v))
	}
	held(t, c, v)
	return true
}

// held checks what the judge from the outside cannot know: pins of all kinds,
// the current turn, and whether more could go.
func held(t fataler, c firewall.Case, v *firewall.Verdict) {
	t.Helper()
	after := make(map[string]*abi.Message)
	for i := range v.Messages {
		after[v.Messages[i].ID] = &v.Messages[i]
	}
	units, of := abi.Units(c.Messages)
	free := make([]bool, len(units))
	for k, u := range units {
		free[k] = !slices.ContainsFunc(u, func(i int) bool { return c.Pinned[i] || c.Turn != nil && c.Turn[i] })
	}
	for i := range c.Messages {
		m := &c.Messages[i]
		is, ok := after[m.ID]
		switch {
		case c.Pinned[i] && (!ok || !sameMessages([]abi.Message{*m}, []abi.Message{*is})):
			t.Fatalf("pinned %s is gone or changed", m.ID)
		case c.Turn != nil && c.Turn[i] && !ok:
			t.Fatalf("%s of the current turn is gone", m.ID)
		case ok != (after[c.Messages[units[of[i]][0]].ID] != nil):
			t.Fatalf("the unit of %s is split", m.ID)
		case ok && free[of[i]] && !v.Met:
			t.Fatalf("over the target, and %s could go", m.ID)
		}
	}
}

func explain(c firewall.Case, v *firewall.Verdict) string {
	return fmt.Sprintf("in:\n%sout:\n%s", sessiongen.JSONL(c.Messages), sessiongen.JSONL(v.Messages))
}

// pinnedIDs are the messages that a case pins.
func pinnedIDs(c firewall.Case) (ids []string) {
	for i, pinned := range c.Pinned {
		if pinned {
			ids = append(ids, c.Messages[i].ID)
		}
	}
	return ids
}
