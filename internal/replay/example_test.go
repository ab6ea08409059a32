package replay_test

import (
	"context"
	"fmt"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/replay"
	"github.com/kagewasm/kagewasm/internal/sessiongen"
)

// A session of 200 model calls in windows of two sizes: the larger one is
// compacted less often, and more of its input comes from the cache.
func Example() {
	msgs := sessiongen.Long(200, 60)
	var small, large replay.Stats
	for window, stats := range map[int]*replay.Stats{4_000: &small, 16_000: &large} {
		c, err := kagewasm.New(kagewasm.Options{Counter: counter})
		if err != nil {
			fmt.Println(err)
			return
		}
		result, err := replay.Run(context.Background(), replay.Options{
			Compactor: c, Counter: counter, Messages: msgs,
			Session: abi.Session{ID: "example", ContextWindow: &window},
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		*stats = result.Stats
	}
	fmt.Println(small.Calls, large.Calls)
	fmt.Println(small.Compactions > 2*large.Compactions, small.CachedShare < large.CachedShare,
		small.InputTokens < large.InputTokens)
	// Output:
	// 200 200
	// true true true
}
