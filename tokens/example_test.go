package tokens_test

import (
	"context"
	"fmt"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/tokens"
)

// How full is the window of the model that is about to be called?
func Example() {
	model := tokens.Default().Resolve("openai/gpt-4o")
	counter, err := tokens.New(model.Encoding, tokens.Options{})
	if err != nil {
		panic(err)
	}
	message := abi.Message{Role: abi.RoleUser, Content: abi.Text("tiktoken is great!")}
	count, err := counter.MeasureMessage(context.Background(), &message)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%d of %d tokens, exact: %v\n", count.Tokens, model.Window(), count.Exact && model.ExactCounts)
	// Output: 10 of 128000 tokens, exact: true
}
