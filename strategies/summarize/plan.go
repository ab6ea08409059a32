package summarize

import (
	"cmp"

	"github.com/kagewasm/kagewasm/abi"
)

// MakePlan is what the firewall gets to check: the summary for all that the
// preparation says goes.
func MakePlan(p *Preparation, r Result) abi.Plan {
	return abi.Plan{
		Source:    abi.Source{Type: abi.SourceModel, Name: cmp.Or(r.Model, Name)},
		Supersede: p.Supersede,
		Summary:   r.Summary,
	}
}
