package strategies

import (
	"context"
	"fmt"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/firewall"
)

// Delegate takes what a plugin proposes: a list of messages, or a summary, for
// which it lets the oldest go as [Drop] does.
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
		return plan, err
	}
	if err := v.summaryFits(d.Output.Summary); err != nil {
		return abi.Plan{}, err
	}
	if strings.TrimSpace(abi.Defuse(d.Output.Summary)) == "" {
		return abi.Plan{}, &abi.Error{Code: abi.CodeBadOutput, Op: "check plan", Phase: abi.PhaseCheck,
			Message: "an empty summary"}
	}
	plan := d.plan(v, b, v.Count.Text(d.Output.Summary))
	plan.Source, plan.Summary = d.Source, d.Output.Summary
	return plan, nil
}

// summaryFits refuses a summary whose length alone says that it is too long. Nothing
// of it was counted or read before.
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
