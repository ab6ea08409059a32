package check

import (
	"context"
	"fmt"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/abi/abitest"
	"github.com/kagewasm/kagewasm/runtime"
)

// Sessions of these many exchanges are compared: where cost grows with the
// session it grows four times, where it grows with its square sixteen times.
const (
	noSession    = 0
	smallSession = 100
	largeSession = 400
	mostGrowth   = 8.0
)

// Memory below memoryFloor bytes may grow in any way: collectors let some pile up
// before they look.
const memoryFloor = 24 << 20

// The same session is compacted so many times, and a call may cost so many
// times what one half way did.
const (
	repeats    = 20
	mostCreep  = 1.2
	creepFloor = 64 << 10 // bytes in host calls that are no matter
)

// growthRules are about what calls cost.
func (s *subject) growthRules() []abitest.Rule {
	skip := s.handles(abi.HookPreCompact)
	counted := skip
	if counted == "" && s.info.Engine != runtime.EngineNative {
		counted = "the engine extism counts no fuel"
	}
	g := growth{s}
	return []abitest.Rule{
		{
			Name: "work grows with the session",
			Explanation: "four times the session may take eight times the fuel: what grows with the square is fast in a " +
				"test, and a deadline for the person with the longest session",
			Fix: "look for a loop over all messages inside another, for lists that are searched, and for texts " +
				"that are put together piece by piece",
			Skip: counted, Check: g.linearWork,
		}, {
			Name:        "memory grows with the session",
			Explanation: "four times the session may take eight times the memory: what grows faster runs out of it",
			Fix:         "keep positions in texts instead of copies, and write into one buffer",
			Skip:        skip, Check: g.linearMemory,
		}, {
			Name: "steady",
			Explanation: "the same session, compacted again and again, costs no more each time: a plugin that stores " +
				"without end, and reads it all back, is slower with every session it serves",
			Fix:  "do not store what is stored already; bound what is kept and what is read back",
			Skip: counted, Check: s.steady,
		},
	}
}

// growth is how what calls cost grows with the session.
type growth struct{ *subject }

// cost makes a dry run on a session of n exchanges.
func (g growth) cost(ctx context.Context, n int) (abi.CallStats, error) {
	p, err := g.with(ctx, nil)
	if err != nil {
		return abi.CallStats{}, err
	}
	_, stats, err := g.call(ctx, p, g.input(n))
	if err != nil {
		return stats, fmt.Errorf("a session of %d exchanges: %w", n, err)
	}
	return stats, nil
}

// times compares a large session with one of a quarter of its exchanges:
// how many times as much it takes, less what no session takes.
func (g growth) times(
	ctx context.Context, of func(abi.CallStats) int64,
) (times float64, small, large int64, err error) {
	var at [3]int64
	for i, n := range []int{noSession, smallSession, largeSession} {
		stats, err := g.cost(ctx, n)
		if err != nil {
			return 0, 0, 0, err
		}
		at[i] = of(stats)
	}
	return float64(at[2]-at[0]) / float64(max(at[1]-at[0], 1)), at[1], at[2], nil
}

func (g growth) linearWork(ctx context.Context) error {
	times, small, large, err := g.times(ctx, func(c abi.CallStats) int64 { return c.Fuel })
	if err == nil && times > mostGrowth {
		err = fmt.Errorf("%d fuel on a session of %d exchanges, %d on one of %d: without what it takes on none %.1f "+
			"times as much", small, smallSession, large, largeSession, times)
	}
	return err
}

func (g growth) linearMemory(ctx context.Context) error {
	times, small, large, err := g.times(ctx, func(c abi.CallStats) int64 { return c.PeakMemoryBytes })
	if err == nil && times > mostGrowth && large > memoryFloor {
		err = fmt.Errorf("%d bytes on a session of %d exchanges, %d on one of %d: without what it takes on none %.1f "+
			"times as much", small, smallSession, large, largeSession, times)
	}
	return err
}

func (s *subject) steady(ctx context.Context) error {
	var middle, last abi.CallStats
	_, err := s.afresh(ctx, func(p *runtime.Plugin) ([]byte, error) {
		for i := range repeats {
			in := s.input(20)
			in.Trigger.DryRun, in.Call = false, fmt.Sprintf("c%d", i)
			_, stats, err := s.call(ctx, p, in)
			if err != nil {
				return nil, fmt.Errorf("call %d of one session: %w", i+1, err)
			}
			if last = stats; i == repeats/2-1 {
				middle = stats
			}
		}
		return nil, nil
	})
	if err != nil {
		return err
	}
	for _, c := range []struct {
		what         string
		before, then int64
	}{
		{"fuel", middle.Fuel, last.Fuel},
		{"bytes in host calls", max(middle.HostCallBytes, creepFloor), last.HostCallBytes},
		{"bytes of memory", max(middle.PeakMemoryBytes, memoryFloor), last.PeakMemoryBytes},
	} {
		if float64(c.then) > mostCreep*float64(c.before) {
			return fmt.Errorf("call %d of one session took %d %s, call %d %d", repeats/2, c.before, c.what, repeats, c.then)
		}
	}
	return nil
}
