package hooks_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
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
		pre := d.Pre(t.Context(), input(abi.HookPreCompact), patient)
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

// TestHangingObserver: an observer that hangs is not waited for, and changes nothing for the
// others.
func TestHangingObserver(t *testing.T) {
	features.Proves(t, "O1")
	synctest.Test(t, func(t *testing.T) {
		d := dispatcher(t, 10*time.Second,
			observer("stuck", hangs),
			observer("fine", sleeps(wait/2, &abi.Output{Inject: "x"})),
			compactor("c", sleeps(4*time.Second, &abi.Output{Summary: "done"})))
		start := time.Now()
		pre := d.Pre(t.Context(), input(abi.HookPreCompact), wait)
		if took := time.Since(start); took != wait+4*time.Second {
			t.Errorf("took %v: the compactor takes 4s, and %v are waited for observers", took, wait)
		}
		if got := outcomes(pre.Outcomes); got != "stuck:late fine:ok c:ok" || len(pre.Injected) != 1 {
			t.Errorf("outcomes %s", got)
		}
		late := pre.Late.Answers()
		if took := time.Since(start); took != 10*time.Second {
			t.Errorf("it was ended after %v: the hook has 10s", took)
		}
		if outcomes(late.Outcomes) != "stuck:failed" || late.Failures[0].Code != abi.CodeDeadline {
			t.Errorf("%s, %v", outcomes(late.Outcomes), late.Failures)
		}
	})
}

// wait is how long these tests wait for observers.
const wait = 500 * time.Millisecond

// TestObserversHoldNobodyUp: what an observer injects or pins counts if it has answered when
// the plan is made; what it retains counts later too.
func TestObserversHoldNobodyUp(t *testing.T) {
	features.Proves(t, "O1")
	said := &abi.Output{Inject: "x", AlwaysKeep: []string{"m1"}, Retain: []string{"a fact"}}
	for _, tc := range []struct {
		name        string
		takes, wait time.Duration
		compactor   time.Duration // it takes so long; 0 is none
		want        time.Duration // until there is an answer
		counts      bool
	}{
		{"in time", wait / 2, wait, 0, wait / 2, true},
		{"too late", 3 * time.Second, wait, 0, wait, false},
		{"fire-and-forget", time.Nanosecond, -1, 0, 0, false},
		{"while the compactor works", 3 * time.Second, wait, 9 * time.Second, wait + 9*time.Second, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				plugins := []*fake{observer("a", sleeps(tc.takes, said))}
				if tc.compactor > 0 {
					plugins = append(plugins, compactor("c", sleeps(tc.compactor, &abi.Output{Summary: "done"})))
				}
				d := dispatcher(t, time.Minute, plugins...)
				ctx, cancel := context.WithCancel(t.Context())
				start := time.Now()
				pre := d.Pre(ctx, input(abi.HookPreCompact), tc.wait)
				if took := time.Since(start); took != tc.want {
					t.Errorf("it held the compaction back for %v, want %v", took, tc.want)
				}
				cancel() // as a caller does who has returned
				if counts := len(pre.Injected) == 1 && len(pre.AlwaysKeep) == 1 && len(pre.Retained) == 1; counts != tc.counts {
					t.Errorf("what it says counts: %v, %+v", counts, pre)
				}
				late := pre.Late.Answers()
				if tc.counts {
					if len(late.Outcomes) > 0 {
						t.Errorf("called twice: %+v", late)
					}
					return
				}
				if pre.Outcomes[0].Outcome != hooks.OutcomeLate || len(late.Retained) != 1 ||
					outcomes(late.Outcomes) != "a:ok" || len(late.Outcomes[0].Warnings) == 0 {
					t.Errorf("first %+v, then %+v", pre.Outcomes, late)
				}
			})
		})
	}
}

// TestWhoMayPlanIsWaitedFor: an observer that may give the summary is no bystander.
func TestWhoMayPlanIsWaitedFor(t *testing.T) {
	features.Proves(t, "O1", "O2")
	synctest.Test(t, func(t *testing.T) {
		judge := observer("a", sleeps(20*time.Second, &abi.Output{Summary: "done"}))
		judge.granted = []abi.Capability{abi.CapCompactionSummary}
		pre := dispatcher(t, time.Minute, judge).Pre(t.Context(), input(abi.HookPreCompact), wait)
		if len(pre.Proposals) != 1 || pre.Late != nil {
			t.Errorf("%+v", pre)
		}
	})
}

// TestOneCallAfterTheOther: a plugin hears what was done when it has ended with what went
// before, and nobody waits for that either.
func TestOneCallAfterTheOther(t *testing.T) {
	features.Proves(t, "O1")
	synctest.Test(t, func(t *testing.T) {
		var order []abi.Hook
		d := dispatcher(t, time.Minute, observer("a", func(_ context.Context, in *abi.Input) (*abi.Output, abi.CallStats,
			error) {
			time.Sleep(3 * time.Second)
			order = append(order, in.Hook)
			return &abi.Output{Retain: []string{string(in.Hook)}}, abi.CallStats{}, nil
		}))
		start := time.Now()
		pre := d.Pre(t.Context(), input(abi.HookPreCompact), wait)
		post := d.Post(t.Context(), input(abi.HookPostCompact), wait, pre.Late)
		if took := time.Since(start); took != 2*wait {
			t.Errorf("both hooks held the caller back for %v", took)
		}
		first, then := pre.Late.Answers(), post.Late.Answers()
		if len(order) != 2 || order[0] != abi.HookPreCompact || len(first.Retained)+len(then.Retained) != 2 {
			t.Errorf("%v, %+v, %+v", order, first, then)
		}
	})
}

func TestHangingCompactor(t *testing.T) {
	features.Proves(t, "K7")
	synctest.Test(t, func(t *testing.T) {
		d := dispatcher(t, 10*time.Second, observer("stuck", hangs), compactor("c", hangs))
		start := time.Now()
		pre := d.Pre(t.Context(), input(abi.HookPreCompact), wait)
		if took := time.Since(start); took != wait+10*time.Second {
			t.Errorf("took %v: the compactor has 10s", took)
		}
		if got := outcomes(pre.Outcomes); got != "stuck:failed c:failed" {
			t.Errorf("outcomes %s", got)
		}
	})
}
