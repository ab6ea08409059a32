package kagewasm_test

import (
	"context"
	"fmt"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/strategies"
)

// noTools is a host's own strategy: every call of a tool goes, whatever its age,
// and what was said stays.
type noTools struct{}

func (noTools) Plan(_ context.Context, v *strategies.View, _ strategies.Budget) (abi.Plan, error) {
	plan := abi.Plan{Source: abi.Source{Type: abi.SourceStrategy, Name: "no-tools"}}
	for _, unit := range v.Units {
		if len(unit) > 1 && v.Candidate(unit) {
			for _, i := range unit {
				plan.Supersede = append(plan.Supersede, v.Messages[i].ID)
			}
		}
	}
	return plan, nil
}

// A strategy of the host's own is given by name, and chosen by a policy. Its
// plans go through the firewall like any other.
func ExampleOptions_strategies() {
	c, err := kagewasm.New(kagewasm.Options{
		Counter:    wordCounter{},
		Strategies: map[string]strategies.Strategy{"no-tools": noTools{}},
		Policy:     kagewasm.Policy{Strategy: "no-tools", Note: strategies.NoteConfig{Tokens: 60}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := c.Compact(context.Background(), request(400, chat(20)))
	if err != nil {
		fmt.Println(err)
		return
	}
	r := result.Report
	fmt.Println(r.Strategy, "superseded", len(r.Superseded), "messages and left", len(r.Kept))
	// Output:
	// no-tools superseded 40 messages and left 3
}
