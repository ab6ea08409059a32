package strategies

import (
	"context"
	"fmt"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/firewall"
	"github.com/kagewasm/kagewasm/internal/set"
)

// Delegate is the strategy of a plugin's proposal: a list of messages, or a summary. For a summary it
// removes the oldest as [Drop] does, or all that may go where the summary covers all.
type Delegate struct {
	Drop
	// Output is what the plugin answered, and Source which plugin it is.
	Output *abi.Output
	Source abi.Source
}

var _ Strategy = Delegate{}

// Plan implements [Strategy].
func (d Delegate) Plan(_ context.Context, v *View, b Budget) (abi.Plan, error) {
	if d.Output.Messages != nil {
		plan, err := firewall.FromOutput(v.Messages, d.Output, d.Source)
		if err == nil {
			err = v.summaryFits(plan.Summary)
		}
		if err == nil && plan.Summary != "" {
			err = v.summarySays(plan.Summary, plan.Supersede)
		}
		plan.Note = b.withBeside(plan.Supersede, plan.Edit)
		return plan, err
	}
	if err := v.summaryFits(d.Output.Summary); err != nil {
		return abi.Plan{}, err
	}
	if strings.TrimSpace(abi.Defuse(d.Output.Summary)) == "" {
		return abi.Plan{}, &abi.Error{Code: abi.CodeBadOutput, Op: "check plan", Phase: abi.PhaseCheck,
			Message: "an empty summary"}
	}
	plan, err := d.cut(v, b)
	if err != nil {
		return plan, err
	}
	plan.Source, plan.Summary = d.Source, d.Output.Summary
	return plan, v.summarySays(plan.Summary, plan.Supersede)
}

// cut returns the plan that removes what the summary stands for.
func (d Delegate) cut(v *View, b Budget) (abi.Plan, error) {
	switch d.Output.Covers {
	case "":
		return d.plan(v, b, v.Count.Text(d.Output.Summary)), nil
	case abi.CoversAll:
		gone := make([]bool, len(v.Messages))
		for _, u := range v.Units {
			for _, i := range u {
				gone[i] = v.Candidate(u)
			}
		}
		return abi.Plan{Supersede: v.ids(gone), Note: b.withBeside(v.ids(gone), nil)}, nil
	}
	return abi.Plan{}, &abi.Error{Code: abi.CodeBadOutput, Op: "check plan", Phase: abi.PhaseCheck,
		Message: fmt.Sprintf("covers is %.40q", d.Output.Covers), Hint: "say all, or leave it out"}
}

// summarySays returns an error where a summary is too short to stand for what goes: the strategy does
// better then.
func (v *View) summarySays(summary string, gone []string) error {
	stood, goes := 0, set.Of(gone...)
	for i := range v.Messages {
		if goes[v.Messages[i].ID] {
			stood += v.Tokens[i]
		}
	}
	if tooShort(summary, stood) {
		return &abi.Error{Code: abi.CodeBadSummary, Op: "check plan", Phase: abi.PhaseCheck,
			Message: fmt.Sprintf("a summary of %d bytes, which cannot stand for %d tokens",
				len(strings.TrimSpace(summary)), stood),
			Hint: "say in a sentence or more what was asked, done and left; or answer nothing, and the strategy follows"}
	}
	return nil
}

// summaryFits returns an error where a summary is too long by its bytes alone, before it is counted or
// read.
func (v *View) summaryFits(summary string) error {
	code, most := abi.CodeGrew, v.Total
	if len(summary) <= most*maxTokenBytes {
		if v.All || len(summary) <= v.Target*maxTokenBytes {
			return nil
		}
		code, most = abi.CodeOverTarget, v.Target
	}
	return &abi.Error{Code: code, Op: "check plan", Phase: abi.PhaseCheck,
		Message: fmt.Sprintf("a summary of %d bytes, where all that stays may have %d tokens", len(summary), most)}
}
