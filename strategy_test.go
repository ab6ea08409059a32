package kagewasm_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/strategies"
)

// planner is a host's strategy made of a function.
type planner func(v *strategies.View, b strategies.Budget) (abi.Plan, error)

func (p planner) Plan(_ context.Context, v *strategies.View, b strategies.Budget) (abi.Plan, error) {
	return p(v, b)
}

func own(p planner) kagewasm.Options {
	return kagewasm.Options{
		Strategies: map[string]strategies.Strategy{"own": p}, Policy: kagewasm.Policy{Strategy: "own"},
		Model: writes("all is well"), // is not asked: the policy names somebody else
	}
}

// TestOwnStrategy: whatever a host's strategy does, the firewall judges its plan,
// a refusal is in the chain, and drop follows.
func TestOwnStrategy(t *testing.T) {
	source := abi.Source{Type: abi.SourceStrategy, Name: "own"}
	for _, tc := range []struct {
		why  string
		plan planner
		code abi.Code // empty where the plan is taken
	}{
		{"a good plan is taken", func(v *strategies.View, b strategies.Budget) (abi.Plan, error) {
			return abi.Plan{Source: source, Supersede: strategies.Cut(v, b.Note, strategies.KeepConfig{})}, nil
		}, ""},
		{"what is pinned stays", func(v *strategies.View, _ strategies.Budget) (abi.Plan, error) {
			return abi.Plan{Source: source, Supersede: []string{"goal"}}, nil
		}, abi.CodePinned},
		{"a call goes with its result", func(v *strategies.View, _ strategies.Budget) (abi.Plan, error) {
			return abi.Plan{Source: source, Supersede: []string{"t0"}}, nil
		}, abi.CodeSplitUnit},
		{"a person's words are not edited", func(v *strategies.View, b strategies.Budget) (abi.Plan, error) {
			return abi.Plan{Source: source, Supersede: strategies.Cut(v, b.Note, strategies.KeepConfig{}),
				Edit: []abi.Edit{{ID: "last", Call: abi.EditContent, Text: "No."}}}, nil
		}, abi.CodeEdit},
		{"nothing is no plan", func(v *strategies.View, _ strategies.Budget) (abi.Plan, error) {
			return abi.Plan{Source: source}, nil
		}, abi.CodeGrew},
		{"an error of its own", func(*strategies.View, strategies.Budget) (abi.Plan, error) {
			return abi.Plan{}, errors.New("odd")
		}, abi.CodeInternal},
		{"a panic", func(*strategies.View, strategies.Budget) (abi.Plan, error) { panic("odd") }, abi.CodeInternal},
	} {
		t.Run(tc.why, func(t *testing.T) {
			r := compact(t, newCompactor(t, own(tc.plan)), request(400, chat(20))).Report
			if tc.code == "" {
				if !r.Compacted || r.Fallback || r.Strategy != "own" || len(r.Failures) > 0 {
					t.Errorf("strategy %q, failures %v", r.Strategy, r.Failures)
				}
				return
			}
			if !r.Compacted || !r.Fallback || r.Strategy != kagewasm.StrategyDrop || len(r.Failures) != 1 ||
				r.Failures[0].Code != tc.code {
				t.Errorf("strategy %q, failures %v", r.Strategy, r.Failures)
			}
		})
	}
}

// TestOwnStrategyUsage: what a host's strategy asked of a model is in the cost.
func TestOwnStrategyUsage(t *testing.T) {
	usage := abi.ModelUsage{Calls: 1, InputTokens: 100, OutputTokens: 10, Cost: 0.25}
	r := compact(t, newCompactor(t, own(func(v *strategies.View, b strategies.Budget) (abi.Plan, error) {
		return abi.Plan{Source: abi.Source{Type: abi.SourceModel, Name: "m-1"},
			Supersede: strategies.Cut(v, b.Note, strategies.KeepConfig{}), Summary: "All is well.", Usage: &usage}, nil
	})), request(400, chat(20))).Report
	if r.Cost.Compactor != 0.25 || r.Cost.Model != "m-1" || *r.Cost.Usage != usage ||
		!strings.HasPrefix(r.Summary, "All is well.") {
		t.Errorf("cost %+v, summary %q", r.Cost, r.Summary)
	}
}

// TestOwnStrategyNames: names that are taken, or not there, are refused.
func TestOwnStrategyNames(t *testing.T) {
	for _, name := range []string{"", kagewasm.StrategyDrop, kagewasm.StrategyCheckpoint} {
		t.Run(fmt.Sprintf("%q", name), func(t *testing.T) {
			_, err := kagewasm.New(kagewasm.Options{Counter: wordCounter{},
				Strategies: map[string]strategies.Strategy{name: noTools{}}})
			if abi.CodeOf(err) != abi.CodeUsage {
				t.Errorf("%q: %v", name, err)
			}
		})
	}
	if _, err := kagewasm.New(kagewasm.Options{Counter: wordCounter{},
		Policy: kagewasm.Policy{Strategy: "own"}}); abi.CodeOf(err) != abi.CodeUsage {
		t.Errorf("a strategy that nobody gave: %v", err)
	}
}
