package hooks_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
)

var trap = &abi.Error{Code: abi.CodeTrap, Message: "unreachable"}

// guarded is a dispatcher with a breaker one can look into.
func guarded(t *testing.T, b *hooks.Breaker, plugins ...hooks.Plugin) *hooks.Dispatcher {
	t.Helper()
	d, err := hooks.New(plugins, hooks.Options{Timeout: time.Minute, Breaker: b})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// pre runs the hook and returns how it went: "a:ok b:failed".
func pre(t *testing.T, d *hooks.Dispatcher) string {
	t.Helper()
	return outcomes(d.Pre(t.Context(), input(abi.HookPreCompact), patient).Outcomes)
}

// flaky fails while broken is set.
type flaky struct {
	broken atomic.Bool
	calls  atomic.Int32
}

func (f *flaky) call(context.Context, *abi.Input) (*abi.Output, abi.CallStats, error) {
	f.calls.Add(1)
	if f.broken.Load() {
		return nil, abi.CallStats{}, trap
	}
	return &abi.Output{Inject: "x"}, abi.CallStats{}, nil
}

// TestBreakerLife (SECURITY: failing for ever) walks a plugin through the
// states: three failures, a quarantine, trials that fail and double it up to
// its bound, one that works.
func TestBreakerLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := hooks.NewBreaker(hooks.BreakerOptions{MaxCooldown: 15 * time.Minute})
		var f flaky
		f.broken.Store(true)
		d := guarded(t, b, observer("bad", f.call), observer("good", says(&abi.Output{Inject: "y"})))
		for i := range 3 {
			if got := pre(t, d); got != "bad:failed good:ok" {
				t.Fatalf("call %d: %s", i, got)
			}
		}
		start := time.Now()
		quarantined := func(after time.Duration, until time.Duration) {
			t.Helper()
			time.Sleep(time.Until(start.Add(after)))
			calls := f.calls.Load()
			p := d.Pre(t.Context(), input(abi.HookPreCompact), patient)
			o := p.Outcomes[0]
			if o.Outcome != hooks.OutcomeQuarantined || f.calls.Load() != calls {
				t.Fatalf("after %v: %s, called %v", after, o.Outcome, f.calls.Load() != calls)
			}
			if e := o.Error; e.Code != abi.CodeQuarantined || e.Plugin != "bad" || e.Hook != abi.HookPreCompact ||
				e.Phase == "" || e.Hint == "" ||
				!errors.Is(e, &abi.Error{Code: abi.CodeTrap}) || len(p.Failures) != 1 {
				t.Errorf("after %v: error %+v", after, e)
			}
			if want := start.Add(until).UTC().Format(time.RFC3339); o.Until != want {
				t.Errorf("after %v: until %s, want %s", after, o.Until, want)
			}
			if p.Outcomes[1].Outcome != hooks.OutcomeOK {
				t.Error("a plugin in quarantine changes nothing for the others")
			}
		}
		failed := func(after time.Duration) {
			t.Helper()
			time.Sleep(time.Until(start.Add(after)))
			if got := pre(t, d); got != "bad:failed good:ok" {
				t.Fatalf("trial after %v: %s", after, got)
			}
		}
		quarantined(0, 5*time.Minute)
		quarantined(5*time.Minute-1, 5*time.Minute)
		failed(5 * time.Minute)
		quarantined(15*time.Minute-1, 15*time.Minute)
		failed(15 * time.Minute)
		quarantined(30*time.Minute-1, 30*time.Minute) // bounded
		time.Sleep(time.Minute)
		c := b.Circuits()[0]
		if c.Digest != "sha256:bad" || c.State != "half_open" || c.Failures != 5 || c.LastError.Code != abi.CodeTrap ||
			c.OpenUntil == nil {
			t.Errorf("due for a trial: %+v", c)
		}
		f.broken.Store(false)
		if got := pre(t, d); got != "bad:ok good:ok" {
			t.Fatalf("a trial that works: %s", got)
		}
		if c := b.Circuits()[0]; c.State != "closed" || c.Failures != 0 || c.OpenUntil != nil || c.LastError == nil {
			t.Errorf("after a trial that worked: %+v", c)
		}
		f.broken.Store(true)
		for range 3 {
			pre(t, d)
		}
		start = time.Now()
		quarantined(0, 5*time.Minute) // it begins again
	})
}

// TestBreakerWhatCounts: what is the plugin's fault opens the circuit, what the
// caller does is not.
func TestBreakerWhatCounts(t *testing.T) {
	deadline := func(t *testing.T) (context.Context, context.CancelFunc) {
		return context.WithTimeout(t.Context(), 10*time.Second)
	}
	cancelled := func(t *testing.T) (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		return ctx, cancel
	}
	for _, tc := range []struct {
		why  string
		do   call
		ctx  func(*testing.T) (context.Context, context.CancelFunc)
		want string
	}{
		{"a trap", fails(trap), nil, "open"},
		{"a panic of a plugin in Go", panics, nil, "open"},
		{"a deadline of the runtime", fails(&abi.Error{Code: abi.CodeDeadline}), nil, "open"},
		{"the hook's own time is up", hangs, nil, "open"},
		{"the hook's own time is up, before the caller's", hangs, func(t *testing.T) (context.Context, context.CancelFunc) {
			return context.WithTimeout(t.Context(), time.Hour)
		}, "open"},
		{"nothing to say is no failure", says(nil), nil, "closed"},
		{"the caller cancelled", hangs, cancelled, "closed"},
		{"the caller's deadline passed", hangs, deadline, "closed"},
		{"the caller's deadline passed, and the runtime says so",
			func(ctx context.Context, in *abi.Input) (*abi.Output, abi.CallStats, error) {
				<-ctx.Done()
				return nil, abi.CallStats{}, &abi.Error{Code: abi.CodeDeadline}
			}, deadline, "closed"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := hooks.NewBreaker(hooks.BreakerOptions{})
				d := guarded(t, b, observer("p", tc.do))
				for range 4 {
					ctx, cancel := t.Context(), context.CancelFunc(func() {})
					if tc.ctx != nil {
						ctx, cancel = tc.ctx(t)
					}
					d.Pre(ctx, input(abi.HookPreCompact), patient)
					cancel()
				}
				if c := b.Circuits()[0]; c.State != tc.want {
					t.Errorf("%+v, want %s", c, tc.want)
				}
			})
		})
	}
}

// TestBreakerRefusedProposals: a plugin whose calls go well and whose proposals
// are refused fails, and one that was taken has not.
func TestBreakerRefusedProposals(t *testing.T) {
	b := hooks.NewBreaker(hooks.BreakerOptions{})
	d := guarded(t, b, compactor("c", says(&abi.Output{Summary: "s"})))
	propose := func(taken bool) *hooks.Pre {
		p := d.Pre(t.Context(), input(abi.HookPreCompact), patient)
		switch {
		case len(p.Proposals) == 0:
		case taken:
			p.Outcomes, _ = p.Settle("c", nil)
		default:
			p.Outcomes, _ = p.Settle("", refused("c", &abi.Error{Code: abi.CodePinned, Message: "supersedes m0"}))
		}
		return p
	}
	for _, taken := range []bool{false, false, true, false, false} {
		propose(taken)
	}
	if c := b.Circuits()[0]; c.State != "closed" || c.Failures != 2 {
		t.Errorf("two refused since one was taken: %+v", c)
	}
	if p := propose(false); len(p.Outcomes[0].Warnings) != 1 || p.Outcomes[0].Until == "" {
		t.Errorf("the failure that opens it says so: %+v", p.Outcomes[0])
	}
	if p := propose(true); outcomes(p.Outcomes) != "c:quarantined" || !p.Fallback {
		t.Errorf("outcomes %s, fallback %v", outcomes(p.Outcomes), p.Fallback)
	}
}

// TestBreakerRefusedTrial: a proposal on trial is called good only by the
// firewall.
func TestBreakerRefusedTrial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := hooks.NewBreaker(hooks.BreakerOptions{Failures: 1})
		d := guarded(t, b, compactor("c", says(&abi.Output{Summary: "s"})))
		for _, cooldown := range []time.Duration{5 * time.Minute, 10 * time.Minute, 20 * time.Minute} {
			p := d.Pre(t.Context(), input(abi.HookPreCompact), patient)
			p.Settle("", refused("c", trap))
			if c := b.Circuits()[0]; c.State != "open" || time.Until(*c.OpenUntil) != cooldown {
				t.Errorf("want open for %v: %+v", cooldown, c)
			}
			time.Sleep(cooldown)
		}
	})
}

// TestBreakerHooksAreCountedApart: a post_compact that works excuses no
// pre_compact, and one trial that works gives a hook that never does no three
// tries more.
func TestBreakerHooksAreCountedApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := hooks.NewBreaker(hooks.BreakerOptions{})
		d := guarded(t, b, observer("p", func(_ context.Context, in *abi.Input) (*abi.Output, abi.CallStats, error) {
			if in.Hook == abi.HookPreCompact {
				return nil, abi.CallStats{}, trap
			}
			return nil, abi.CallStats{}, nil
		}))
		post := func() string { return outcomes(d.Post(t.Context(), input(abi.HookPostCompact), patient, nil).Outcomes) }
		for range 2 {
			if got := pre(t, d) + " " + post(); got != "p:failed p:nothing" {
				t.Errorf("closed: %s", got)
			}
		}
		if got := pre(t, d) + " " + post(); got != "p:failed p:quarantined" {
			t.Errorf("opened by pre_compact: %s", got)
		}
		time.Sleep(hooks.DefaultCooldown)
		if got := post() + " " + pre(t, d) + " " + pre(t, d); got != "p:nothing p:failed p:quarantined" {
			t.Errorf("on trial: %s", got)
		}
		if c := b.Circuits()[0]; time.Until(*c.OpenUntil) != 2*hooks.DefaultCooldown {
			t.Errorf("the second time is longer: %+v", c)
		}
	})
}

// TestBreakerOneTrial: while a call is on trial others stay out; one that the
// caller ended decides nothing.
func TestBreakerOneTrial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := hooks.NewBreaker(hooks.BreakerOptions{Failures: 1})
		do := fails(trap)
		d := guarded(t, b, observer("p", func(ctx context.Context, in *abi.Input) (*abi.Output, abi.CallStats, error) {
			return do(ctx, in)
		}))
		pre(t, d)
		time.Sleep(hooks.DefaultCooldown)

		do = hangs
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan string)
		go func() { done <- outcomes(d.Pre(ctx, input(abi.HookPreCompact), patient).Outcomes) }()
		synctest.Wait()
		second := d.Pre(t.Context(), input(abi.HookPreCompact), patient).Outcomes[0]
		if second.Outcome != hooks.OutcomeQuarantined || !strings.Contains(second.Error.Message, "on trial") {
			t.Errorf("beside a trial: %+v", second.Error)
		}
		cancel()
		if got := <-done; got != "p:failed" {
			t.Errorf("the trial: %s", got)
		}
		if c := b.Circuits()[0]; c.State != "half_open" || c.Failures != 1 {
			t.Errorf("the caller ended the trial, which decides nothing: %+v", c)
		}
		do = says(nil)
		if got := pre(t, d); got != "p:nothing" || b.Circuits()[0].State != "closed" {
			t.Errorf("the next trial: %s, %+v", got, b.Circuits())
		}
	})
}

// TestBreakerLateResults: calls that began before the circuit opened neither
// close it nor prolong it.
func TestBreakerLateResults(t *testing.T) {
	for how, late := range map[string]error{"success": nil, "failure": trap} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := hooks.NewBreaker(hooks.BreakerOptions{})
				quick := fails(trap)
				slow := func(ctx context.Context, _ *abi.Input) (*abi.Output, abi.CallStats, error) {
					time.Sleep(10 * time.Second)
					return nil, abi.CallStats{}, late
				}
				first := true
				d := guarded(t, b, observer("p", func(ctx context.Context, in *abi.Input) (*abi.Output, abi.CallStats, error) {
					if first {
						first = false
						return slow(ctx, in)
					}
					return quick(ctx, in)
				}))
				var wg sync.WaitGroup
				wg.Go(func() { d.Pre(t.Context(), input(abi.HookPreCompact), patient) })
				synctest.Wait()
				for range 3 {
					pre(t, d)
				}
				opened := b.Circuits()
				wg.Wait()
				if after := b.Circuits(); !reflect.DeepEqual(after, opened) || after[0].State != "open" {
					t.Errorf("late %v: was %+v, is %+v", late, opened, after)
				}
			})
		})
	}
}

// refused is what is to be said where the firewall refuses a proposal.
func refused(plugin string, err *abi.Error) []hooks.Remark {
	return []hooks.Remark{{Plugin: plugin, Refused: err}}
}

// TestBreakerIsShared: by digest, over dispatchers; a plugin that is no module
// goes by its name.
func TestBreakerIsShared(t *testing.T) {
	b := hooks.NewBreaker(hooks.BreakerOptions{Failures: 2})
	one, other := guarded(t, b, observer("p", fails(trap))),
		guarded(t, b, observer("p", fails(trap)), &inGo{*observer("q", fails(trap))})
	if got := pre(t, one) + ", " + pre(t, other) + ", " + pre(t, one) + ", " +
		pre(t, other); got != "p:failed, p:failed q:failed, p:quarantined, p:quarantined q:failed" {
		t.Errorf("two dispatchers: %s", got)
	}
	var names []string
	for _, c := range b.Circuits() {
		names = append(names, c.Digest+" "+c.State)
	}
	if want := []string{"q open", "sha256:p open"}; !reflect.DeepEqual(names, want) {
		t.Errorf("circuits %q, want %q", names, want)
	}
	never := guarded(t, hooks.NewBreaker(hooks.BreakerOptions{Failures: -1}), observer("p", fails(trap)))
	for range 10 {
		if got := pre(t, never); got != "p:failed" {
			t.Fatalf("a breaker that is switched off: %s", got)
		}
	}
}

// inGo is a plugin that is no module.
type inGo struct{ fake }

func (*inGo) Digest() string { return "" }

// TestBreakerHammer is for the race detector: many sessions share a breaker,
// whose plugins go wrong now and then, while someone looks at it.
func TestBreakerHammer(t *testing.T) {
	b := hooks.NewBreaker(hooks.BreakerOptions{Cooldown: time.Millisecond, MaxCooldown: 2 * time.Millisecond})
	var n atomic.Int32
	sometimes := func(ctx context.Context, in *abi.Input) (*abi.Output, abi.CallStats, error) {
		if n.Add(1)%8 < 5 {
			return nil, abi.CallStats{}, trap
		}
		return &abi.Output{Summary: "s", RequestCompaction: &abi.CompactionRequest{}}, abi.CallStats{}, nil
	}
	granted := observer("b", sometimes)
	granted.granted = abi.Capabilities
	granted.hooks = abi.Hooks
	d := guarded(t, b, observer("a", sometimes), granted, compactor("c", sometimes))
	var wg sync.WaitGroup
	for g := range 16 {
		wg.Go(func() {
			in := input(abi.HookPreCompact)
			in.Session.ID = fmt.Sprint("s", g%4)
			turn := *in
			turn.Hook = abi.HookTurnEnd
			for i := range 100 {
				p := d.Pre(context.Background(), in, patient)
				var remarks []hooks.Remark
				taken := ""
				for k, proposal := range p.Proposals {
					if (i+k)%3 == 0 {
						taken = proposal.Source.Name
						break
					}
					remarks = append(remarks, refused(proposal.Source.Name, trap)...)
				}
				p.Settle(taken, remarks)
				for _, o := range p.Outcomes {
					if (o.Outcome == hooks.OutcomeQuarantined) != (abi.CodeOf(asError(o.Error)) == abi.CodeQuarantined) {
						t.Errorf("outcome %+v", o)
					}
				}
				d.TurnEnd(context.Background(), &turn)
				if i%50 == 0 {
					b.Circuits()
				}
			}
		})
	}
	wg.Wait()
	if len(b.Circuits()) != 3 {
		t.Errorf("circuits %+v", b.Circuits())
	}
}

// asError is nil for no error.
func asError(e *abi.Error) error {
	if e == nil {
		return nil
	}
	return e
}

// TestBreakerIsRestored: what a breaker knows goes on in the next process: the count of
// failures, the quarantine and how long the next one is; what the next one knows by itself
// it keeps. A reset forgets all, and the plugin is called again.
func TestBreakerIsRestored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var kept []hooks.Circuit
		var now *hooks.Breaker
		told := 0
		start := func() {
			b := hooks.NewBreaker(hooks.BreakerOptions{Changed: func() { told++; kept = now.Circuits() }})
			text, err := json.Marshal(kept)
			if err != nil {
				t.Fatal(err)
			}
			var read []hooks.Circuit
			if err := json.Unmarshal(text, &read); err != nil {
				t.Fatal(err)
			}
			b.Restore(read)
			now = b
		}
		var f flaky
		f.broken.Store(true)
		call := func() string { return pre(t, guarded(t, now, observer("bad", f.call))) }
		for i, want := range []string{"bad:failed", "bad:failed", "bad:failed", "bad:quarantined"} {
			start()
			if got := call(); got != want {
				t.Fatalf("process %d: %s, want %s", i, got, want)
			}
		}
		if c := kept[0]; told != 3 || c.State != "open" || c.Failures != 3 || c.Plugin != "bad" ||
			c.LastError.Code != abi.CodeTrap {
			t.Errorf("told %d times, %+v", told, c)
		}
		time.Sleep(5 * time.Minute)
		start()
		if got := call(); got != "bad:failed" {
			t.Fatalf("on trial: %s", got)
		}
		start()
		time.Sleep(9 * time.Minute)
		if got := call(); got != "bad:quarantined" { // for ten now
			t.Fatalf("after the trial: %s", got)
		}
		start()
		if !now.Reset(kept[0].Digest) || now.Reset(kept[0].Digest) || now.Reset("another") {
			t.Error("a reset says whether there was something to forget")
		}
		if got := call(); got != "bad:failed" || kept[0].State != "closed" || kept[0].Failures != 1 {
			t.Errorf("after a reset: %s, %+v", got, kept[0])
		}
		f.broken.Store(false)
		start()
		told = 0
		if call(); told != 1 || kept[0].Failures != 0 {
			t.Errorf("a success is told %d times, %+v", told, kept[0])
		}
		if call(); told != 1 {
			t.Errorf("a success after a success is told")
		}
		now.Restore([]hooks.Circuit{{Digest: kept[0].Digest, State: "open", OpenUntil: new(time.Now().Add(time.Hour))}})
		if got := call(); got != "bad:ok" {
			t.Errorf("what it knows was overwritten: %s", got)
		}
	})
}
