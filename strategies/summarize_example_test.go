package strategies_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/strategies"
)

// clerk is a model that always writes the same.
type clerk struct{ text string }

func (c clerk) Complete(context.Context, abi.ModelRequest) (abi.ModelResponse, error) {
	return abi.ModelResponse{Text: c.text, Model: "clerk-1", StopReason: abi.StopEnd, InputTokens: 900,
		OutputTokens: 12}, nil
}

func ExampleSummarize() {
	session := turns(4, 0) // two requests, four tool calls
	s := strategies.Summarize{
		Config: strategies.SummarizeConfig{Prompt: "Say in one sentence what was done.", PreserveRecent: 2,
			MaxSummaryTokens: 50},
		Model: clerk{"Four commands were run."},
	}
	plan, err := s.Plan(context.Background(), toSummarize(session, 1000), strategies.Budget{})
	if err != nil {
		fmt.Println(err) // and on to strategies.Drop
		return
	}
	fmt.Println(strings.Join(plan.Supersede, " "))
	fmt.Printf("%s: %s\n", plan.Source.Name, plan.Summary)
	fmt.Println(plan.Usage.Calls, "call,", plan.Usage.InputTokens, "tokens")
	// Output:
	// a0.0 r0.0 a0.1 r0.1 a0.2 r0.2
	// clerk-1: **Turn Context (split turn):**
	//
	// Four commands were run.
	// 1 call, 900 tokens
}
