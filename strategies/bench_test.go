package strategies_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/sessiongen"
	"github.com/kagewasm/kagewasm/strategies"
	"github.com/kagewasm/kagewasm/tokens"
)

// large is a session of 10,003 messages, 5,000 calls whose results have some 400
// tokens each: 2 million tokens, counted.
func large(b *testing.B) (*strategies.View, abi.Counter) {
	counter, err := tokens.New("", tokens.Options{})
	if err != nil {
		b.Fatal(err)
	}
	msgs := sessiongen.Long(5000, 185)
	counts := make([]int, len(msgs))
	for i := range msgs {
		counts[i] = counter.Message(&msgs[i])
	}
	v := strategies.NewView(strategies.NewList(msgs, counts, abi.Pinned(msgs), 0),
		strategies.Limits{Window: 200_000, Target: 100_000, UpperBytes: 1 << 40}, counter)
	if v.Total < 1_900_000 || len(msgs) < 10_000 {
		b.Fatalf("%d messages of %d tokens", len(msgs), v.Total)
	}
	return v, counter
}

func BenchmarkPrune(b *testing.B) {
	v, counter := large(b)
	again, _ := v.List.Edited(strategies.Prune(v.List, strategies.PruneConfig{}, counter), counter)
	for name, prune := range map[string]func() []abi.Edit{
		"default": func() []abi.Edit {
			return strategies.Prune(v.List, strategies.PruneConfig{}, counter)
		},
		"again": func() []abi.Edit {
			return strategies.Prune(again, strategies.PruneConfig{}, counter)
		},
		"reference": func() []abi.Edit {
			return strategies.Prune(v.List, strategies.PruneConfig{Reference: true}, counter)
		},
		"shorten": func() []abi.Edit {
			return strategies.Prune(v.List,
				strategies.PruneConfig{ShortenTokens: 200, EndTokens: 50, ProtectTokens: 1 << 30}, counter)
		},
		"arguments": func() []abi.Edit {
			return strategies.PruneArguments(v, true, strategies.PruneConfig{Arguments: strategies.ArgumentsIteration})
		},
		"cap": func() []abi.Edit { return strategies.Cap(v, 25_000) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				prune()
			}
		})
	}
}

func BenchmarkCut(b *testing.B) {
	v, _ := large(b)
	for _, bytes := range []int{0, 400_000} {
		v.TargetBytes = bytes
		for _, keep := range []strategies.KeepConfig{{}, {Messages: 10}} {
			b.Run(fmt.Sprintf("bytes=%d/messages=%d", bytes, keep.Messages), func(b *testing.B) {
				for b.Loop() {
					strategies.Cut(v, 1000, keep)
				}
			})
		}
	}
}

// BenchmarkCapGiant cuts one result of 3 MB.
func BenchmarkCapGiant(b *testing.B) {
	counter, err := tokens.New("", tokens.Options{CacheEntries: -1})
	if err != nil {
		b.Fatal(err)
	}
	msgs := results("bash:1", "bash:1")
	msgs[4].Content = abi.Text(strings.Repeat(lines(1000), 100))
	counts := make([]int, len(msgs))
	for i := range msgs {
		counts[i] = counter.Message(&msgs[i])
	}
	v := strategies.NewView(strategies.NewList(msgs, counts, abi.Pinned(msgs), 0), strategies.Limits{}, counter)
	for b.Loop() {
		strategies.Cap(v, 25_000)
	}
}
