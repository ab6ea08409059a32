package summarize_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/strategies/summarize"
)

// clerk is a model that always writes the same.
type clerk struct{ text string }

func (c clerk) Complete(context.Context, abi.ModelRequest) (abi.ModelResponse, error) {
	return abi.ModelResponse{Text: c.text, Model: "clerk-1", StopReason: abi.StopEnd, InputTokens: 900, OutputTokens: 12}, nil
}

func Example() {
	session := turns(4, 0) // two requests, four tool calls
	cfg := summarize.Config{
		Prompt:         "Say in one sentence what was done.",
		PreserveRecent: 2,
	}
	p, err := summarize.Prepare(view(session, 200), cfg, cfg.Recent())
	if err != nil {
		fmt.Println(err) // and why
		return
	}
	r, err := summarize.Run(context.Background(), clerk{"Four commands were run."}, p, cfg, counter.Text)
	if err != nil {
		fmt.Println(err) // and on to strategies.Drop
		return
	}
	plan := summarize.MakePlan(p, r)
	fmt.Println(strings.Join(plan.Supersede, " "))
	fmt.Printf("%s: %s\n", plan.Source.Name, plan.Summary)
	fmt.Println(r.Usage.Calls, "call,", r.Usage.InputTokens, "tokens")
	// Output:
	// a0.0 r0.0 a0.1 r0.1 a0.2 r0.2
	// clerk-1: Four commands were run.
	// 1 call, 900 tokens
}
