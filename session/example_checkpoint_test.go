package session_test

import (
	"context"
	"fmt"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/hosttest"
	"github.com/kagewasm/kagewasm/session"
)

// With the strategy checkpoint the session pauses where a compaction is due. A
// person looks at it, and what is approved is what was shown.
func ExampleSession_Approve() {
	ctx := context.Background()
	compactor, err := kagewasm.New(kagewasm.Options{
		Counter: hosttest.Words{}, Policy: kagewasm.Policy{Strategy: kagewasm.StrategyCheckpoint}})
	if err != nil {
		panic(err)
	}
	window := 400
	s, err := session.Open(ctx, compactor, session.Options{Session: abi.Session{ID: "s1", ContextWindow: &window}})
	if err != nil {
		panic(err)
	}
	_ = s.Append(ctx, hosttest.Chat(60)...)
	call := func(context.Context, []abi.Message) ([]abi.Message, error) {
		return []abi.Message{{ID: "answer", Role: abi.RoleAssistant, Content: abi.Text("Done.")}}, nil
	}
	_, err = s.Dispatch(ctx, call)
	fmt.Println(abi.CodeOf(err))

	shown := s.Pending()
	fmt.Println(shown.Report.MessagesBefore, "messages would be fewer than 20:", len(shown.Messages) < 20)
	if _, err := s.Approve(ctx, shown.ID); err != nil {
		panic(err)
	}
	d, err := s.Dispatch(ctx, call)
	fmt.Println(d.Messages[0].Text(), err)
	// Output:
	// busy
	// 123 messages would be fewer than 20: true
	// Done. <nil>
}
