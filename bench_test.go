package kagewasm_test

import (
	"context"
	"fmt"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/sessiongen"
	"github.com/kagewasm/kagewasm/strategies"
	"github.com/kagewasm/kagewasm/tokens"
)

// longSession has 10,000 messages of about two million tokens.
func longSession(b *testing.B, turns int, policy kagewasm.Policy) (*kagewasm.Compactor, []abi.Message, int) {
	b.Helper()
	counter, err := tokens.New(tokens.O200k, tokens.Options{CacheEntries: 1 << 20}) // all texts of the largest
	if err != nil {
		b.Fatal(err)
	}
	c, err := kagewasm.New(kagewasm.Options{Counter: counter, Policy: policy})
	if err != nil {
		b.Fatal(err)
	}
	msgs := sessiongen.Long(turns, 195)
	total := 0
	for i := range msgs {
		total += counter.Message(&msgs[i])
	}
	return c, msgs, total
}

// BenchmarkDecide is what a look before a call costs where one message was
// added and nothing is to be done; the limit is 2 ms for 10,000 messages.
func BenchmarkDecide(b *testing.B) {
	for _, turns := range []int{500, 5_000, 50_000} {
		c, msgs, total := longSession(b, turns, kagewasm.Policy{})
		window := total * 2
		req := kagewasm.Request{Session: abi.Session{ID: "s", ContextWindow: &window}, Messages: msgs, AppendOnly: true}
		first, err := c.Compact(b.Context(), req) // prunes; a host goes on with what it was given
		if err != nil {
			b.Fatal(err)
		}
		grown := first.Messages
		b.Run(fmt.Sprintf("messages=%d,tokens=%d", len(msgs), total), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				grown = append(grown, abi.Message{ID: fmt.Sprintf("n%d", i), Role: abi.RoleUser,
					Content: abi.Text(fmt.Sprintf("word %d", i))})
				req.Messages = grown
				r, err := c.Compact(context.Background(), req)
				if err != nil || r.Report.ReasonCode != abi.ReasonBelowThreshold {
					b.Fatal(r.Report.Reason, err)
				}
			}
		})
	}
}

// BenchmarkDrop is a whole compaction by drop, texts counted before; the limit
// is 250 ms for 10,000 messages.
func BenchmarkDrop(b *testing.B) {
	for _, turns := range []int{500, 5_000, 50_000} {
		c, msgs, total := longSession(b, turns, kagewasm.Policy{Prune: strategies.PruneConfig{Off: true}})
		window := total / 2
		req := kagewasm.Request{Session: abi.Session{ID: "s", ContextWindow: &window}, Messages: msgs}
		b.Run(fmt.Sprintf("messages=%d,tokens=%d", len(msgs), total), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				req.Session.ID = fmt.Sprintf("s%d", i) // nothing remembered but the counts of texts
				r, err := c.Compact(context.Background(), req)
				if err != nil || !r.Report.Compacted {
					b.Fatal(r.Report.Reason, err)
				}
			}
		})
	}
}
