package hooks_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
)

// sleeps takes as long as it likes, but for its context.
func sleeps(d time.Duration, out *abi.Output) call {
	return func(ctx context.Context, _ *abi.Input) (*abi.Output, abi.CallStats, error) {
		select {
		case <-time.After(d):
			return out, abi.CallStats{}, nil
		case <-ctx.Done():
			return nil, abi.CallStats{}, ctx.Err()
		}
	}
}

func TestObserversRunSideBySideAndKeepTheirOrder(t *testing.T) {
	features.Proves(t, "O1")
	synctest.Test(t, func(t *testing.T) {
		d := dispatcher(t, time.Minute,
			observer("slow", sleeps(9*time.Second, &abi.Output{Inject: "1"})),
			observer("quick", sleeps(1*time.Second, &abi.Output{Inject: "2"})),
			observer("middling", sleeps(5*time.Second, &abi.Output{Inject: "3"})))
		start := time.Now()
		pre := d.Pre(t.Context(), input(abi.HookPreCompact))
		if took := time.Since(start); took != 9*time.Second {
			t.Errorf("took %v: the slowest takes 9s", took)
		}
		if got := outcomes(pre.Outcomes); got != "slow:ok quick:ok middling:ok" {
			t.Errorf("outcomes %s", got)
		}
		for i, in := range pre.Injected {
			if in.Text != string(rune('1'+i)) {
				t.Errorf("injected %d is %q", i, in.Text)
			}
		}
	})
}

func TestHangingObserver(t *testing.T) {
	features.Proves(t, "O1")
	synctest.Test(t, func(t *testing.T) {
		d := dispatcher(t, 10*time.Second,
			observer("stuck", hangs),
			observer("fine", sleeps(time.Second, &abi.Output{Inject: "x"})),
			compactor("c", sleeps(4*time.Second, &abi.Output{Summary: "done"})))
		start := time.Now()
		pre := d.Pre(t.Context(), input(abi.HookPreCompact))
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("took %v: the hook has 10s in all", took)
		}
		if got := outcomes(pre.Outcomes); got != "stuck:failed fine:ok c:ok" {
			t.Errorf("outcomes %s: one observer that hangs changes nothing for the others", got)
		}
		if pre.Failures[0].Code != abi.CodeDeadline {
			t.Errorf("failure %+v", pre.Failures[0])
		}
	})
}

func TestHangingCompactor(t *testing.T) {
	features.Proves(t, "K7")
	synctest.Test(t, func(t *testing.T) {
		d := dispatcher(t, 10*time.Second, observer("stuck", hangs), compactor("c", hangs))
		start := time.Now()
		pre := d.Pre(t.Context(), input(abi.HookPreCompact))
		if took := time.Since(start); took != 10*time.Second {
			t.Errorf("took %v: the timeout is the whole hook's, 10s", took)
		}
		if got := outcomes(pre.Outcomes); got != "stuck:failed c:failed" {
			t.Errorf("outcomes %s", got)
		}
	})
}
