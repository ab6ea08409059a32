package kagewasm_test

import (
	"context"
	"fmt"
	"log"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/tokens"
)

// Before each model call a harness asks for the messages to send. Below the
// threshold they are the ones it has; over it the oldest are replaced by a note.
func Example() {
	model := tokens.Default().Resolve("gpt-4o")
	counter, err := tokens.New(model.Encoding, tokens.Options{})
	if err != nil {
		log.Fatal(err)
	}
	compactor, err := kagewasm.New(kagewasm.Options{Counter: counter})
	if err != nil {
		log.Fatal(err)
	}

	messages := []abi.Message{
		{ID: "1", Role: abi.RoleSystem, Content: abi.Text("You are a careful engineer.")},
		{ID: "2", Role: abi.RoleUser, Content: abi.Text("Make the tests of store.go pass.")},
	}
	for i := range 40 {
		messages = append(messages, abi.Message{
			ID: fmt.Sprint(3 + i), Role: abi.RoleAssistant,
			Content: abi.Text(fmt.Sprintf(
				"Attempt %d: TestReserve in internal/store/store_test.go still fails with ErrConflict.", i+1)),
		})
	}
	result, err := compactor.Compact(context.Background(), kagewasm.Request{
		Session:  abi.Session{ID: "s1", Model: model.Name(), ContextWindow: model.ContextWindow},
		Messages: messages,
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Report.ReasonCode, len(result.Messages))

	small := 1000 // the same session, a smaller model
	result, err = compactor.Compact(context.Background(), kagewasm.Request{
		Session:  abi.Session{ID: "s1", ContextWindow: &small},
		Messages: messages,
	})
	if err != nil {
		log.Fatal(err)
	}
	r := result.Report
	fmt.Println(r.ReasonCode, "by", r.Strategy, "to", len(result.Messages), "messages")
	fmt.Println(result.Messages[2].Kind, "stands for", len(r.Superseded))
	// Output:
	// below_threshold 42
	// compacted by drop to 20 messages
	// compaction_summary stands for 23
}
