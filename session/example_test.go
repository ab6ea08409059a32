package session_test

import (
	"context"
	"fmt"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/models"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/tokens"
)

// A session keeps everything that was ever in it. Dispatch makes it fit before
// each call of the model, and a rollback brings back what a compaction took
// away.
func ExampleSession_Dispatch() {
	ctx := context.Background()
	counter, err := tokens.New(tokens.O200k, tokens.Options{})
	if err != nil {
		panic(err)
	}
	compactor, err := kagewasm.New(kagewasm.Options{Counter: counter})
	if err != nil {
		panic(err)
	}
	window := 2000
	s, err := session.Open(ctx, compactor, session.Options{
		Session: abi.Session{ID: "s1", ContextWindow: &window}, TooLong: models.TooLong})
	if err != nil {
		panic(err)
	}
	_ = s.Append(ctx, abi.Message{ID: "u1", Role: abi.RoleUser, Content: abi.Text("Make the tests pass.")})
	for i := range 100 {
		// Your own call of the model; here it answers at once.
		call := func(_ context.Context, msgs []abi.Message) ([]abi.Message, error) {
			text := fmt.Sprintf("Step %d: I looked at file_%d.go, and the tests of package number %d still fail.", i, i, i)
			return []abi.Message{{ID: fmt.Sprintf("a%d", i), Role: abi.RoleAssistant, Content: abi.Text(text)}}, nil
		}
		if _, err := s.Dispatch(ctx, call); err != nil {
			panic(err)
		}
	}
	fmt.Println("all messages ever:", len(s.All())-len(s.Compactions()))
	fmt.Println("the model sees fewer:", len(s.Messages()) < 100)
	_ = s.Rollback(ctx, "a50")
	fmt.Println("back at step 50:", s.Messages()[len(s.Messages())-1].ID)
	// Output:
	// all messages ever: 101
	// the model sees fewer: true
	// back at step 50: a50
}
