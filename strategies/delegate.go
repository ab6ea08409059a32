package strategies

import (
	"context"
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
		return firewall.FromOutput(v.Messages, d.Output, d.Source)
	}
	if strings.TrimSpace(abi.Defuse(d.Output.Summary)) == "" {
		return abi.Plan{}, &abi.Error{Code: abi.CodeBadOutput, Op: "check plan", Phase: abi.PhaseCheck,
			Message: "an empty summary"}
	}
	plan := d.plan(v, b, v.Count.Text(d.Output.Summary))
	plan.Source, plan.Summary = d.Source, d.Output.Summary
	return plan, nil
}
