package kagewasm_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/strategies"
	"github.com/kagewasm/kagewasm/tokens"
)

// What a model would be asked to summarize is known before it is asked, and before it is paid for.
func ExampleCompactor_Prepare() {
	counter, err := tokens.New(tokens.O200k, tokens.Options{})
	if err != nil {
		log.Fatal(err)
	}
	compactor, err := kagewasm.New(kagewasm.Options{Counter: counter})
	if err != nil {
		log.Fatal(err)
	}
	messages := []abi.Message{{ID: "task", Role: abi.RoleUser, Content: abi.Text("Make the tests of store.go pass.")}}
	for i := range 60 {
		messages = append(messages, abi.Message{ID: fmt.Sprint("step", i), Role: abi.RoleAssistant, Content: abi.Text(
			fmt.Sprintf("Attempt %d: TestReserve in internal/store/store_test.go still fails with ErrConflict.", i))})
	}
	for _, window := range []int{1000, 100_000} {
		p, err := compactor.Prepare(context.Background(), kagewasm.Request{
			Session: abi.Session{ID: "s1", ContextWindow: &window}, Messages: messages})
		switch {
		case errors.Is(err, strategies.ErrNothing):
			fmt.Println(err)
		case err != nil:
			log.Fatal(err)
		default:
			fmt.Println(len(p.Superseded), "messages from", p.Boundary, "on; kept from", p.Cut, "on; in a turn:",
				p.SplitTurn)
		}
	}
	// Output:
	// 48 messages from step0 on; kept from step48 on; in a turn: true
	// summarize: nothing to summarize: the session of 1332 tokens is within its target of 60000
}
