package hooks_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/features"
)

// vandal writes to everything it is given.
func vandal(_ context.Context, in *abi.Input) (*abi.Output, abi.CallStats, error) {
	in.Call, in.Session.ID = "evil", "evil"
	*in.Session.ContextWindow = 1
	in.Config["size"] = []byte("666")
	for i := range in.Messages {
		m := &in.Messages[i]
		m.ID, m.Pinned, m.Content = "evil", false, abi.Text("evil")
		for k := range m.ToolCalls {
			m.ToolCalls[k].Arguments = "evil"
		}
		if m.Meta != nil {
			m.Meta["k"] = []byte("666")
		}
	}
	in.Messages = append(in.Messages[:1], abi.InputMessage{})
	if r := in.Record; r != nil {
		r.ID, r.Superseded[0], r.Failures[0].Message = "evil", "evil", "evil"
	}
	return nil, abi.CallStats{}, nil
}

// TestInputsAreIsolated: what one plugin writes reaches neither the host nor
// another plugin, whichever comes first.
func TestInputsAreIsolated(t *testing.T) {
	for _, hook := range []abi.Hook{abi.HookPreCompact, abi.HookPostCompact} {
		t.Run(string(hook), func(t *testing.T) {
			look := func(_ context.Context, in *abi.Input) (*abi.Output, abi.CallStats, error) {
				time.Sleep(time.Millisecond) // the vandal goes first
				want := input(hook)
				want.Call = in.Call
				if !reflect.DeepEqual(in, want) {
					t.Errorf("%s: %s was given %+v", hook, in.Call, in)
				}
				return nil, abi.CallStats{}, nil
			}
			d := dispatcher(t, 0, observer("vandal", vandal), observer("looker", look), compactor("c", look))
			in := input(hook)
			if hook == abi.HookPreCompact {
				d.Pre(t.Context(), in, patient)
			} else {
				d.Post(t.Context(), in, patient, nil)
			}
			if !reflect.DeepEqual(in, input(hook)) {
				t.Errorf("%s: the host's own input is now %+v", hook, in)
			}
		})
	}
}

func TestNothingRegisteredCostsNothing(t *testing.T) {
	features.Proves(t, "O8")
	other := observer("other", func(context.Context, *abi.Input) (*abi.Output, abi.CallStats, error) {
		t.Error("called for a hook it does not handle")
		return nil, abi.CallStats{}, nil
	})
	other.hooks = []abi.Hook{abi.HookTurnEnd}
	for name, d := range map[string]*hooks.Dispatcher{"no plugin": dispatcher(t, 0),
		"none for this hook": dispatcher(t, 0, other)} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			pre, post := input(abi.HookPreCompact), input(abi.HookPostCompact)
			if !d.Empty(abi.HookPreCompact) || !d.Empty(abi.HookPostCompact) || d.HasCompactor() {
				t.Errorf("%s: not empty", name)
			}
			if n := testing.AllocsPerRun(100, func() { d.Empty(abi.HookPreCompact) }); n > 0 {
				t.Errorf("asking whether there is one allocates %v times", n)
			}
			// The empty answer itself is one allocation.
			if n := testing.AllocsPerRun(100, func() { d.Pre(ctx, pre, patient) }); n > 1 {
				t.Errorf("pre_compact allocates %v times", n)
			}
			if n := testing.AllocsPerRun(100, func() { d.Post(ctx, post, patient, nil) }); n > 1 {
				t.Errorf("post_compact allocates %v times", n)
			}
		})
	}
	none, turn := dispatcher(t, 0), input(abi.HookTurnEnd)
	if n := testing.AllocsPerRun(100, func() { none.TurnEnd(t.Context(), turn) }); n > 1 {
		t.Errorf("turn_end allocates %v times", n)
	}
}

// TestHammer is for the race detector: many sessions, one dispatcher, plugins
// that answer, fail, panic, hang and write to their input.
func TestHammer(t *testing.T) {
	d := dispatcher(t, 5*time.Millisecond,
		observer("a", says(&abi.Output{Retain: []string{"x"}, Inject: "y"})),
		observer("vandal", vandal), observer("panics", panics), observer("hangs", hangs),
		observer("fails", fails(&abi.Error{Code: abi.CodeTrap})),
		compactor("c", says(&abi.Output{Summary: "s"})))
	pre, post := input(abi.HookPreCompact), input(abi.HookPostCompact)
	var wg sync.WaitGroup
	for g := range 16 {
		wg.Go(func() {
			for range 10 {
				got := d.Pre(context.Background(), pre, patient)
				s := strings.ReplaceAll(outcomes(got.Outcomes), hooks.OutcomeQuarantined, "failed")
				if s != "a:ok vandal:nothing panics:failed hangs:failed fails:failed c:ok" {
					t.Error(fmt.Sprint(g, ": ", s))
				}
				got.Settle("c", nil)
				if n := len(d.Post(context.Background(), post, patient, nil).Failures); n != 3 {
					t.Error(fmt.Sprint(g, ": ", n, " failures after"))
				}
			}
		})
	}
	wg.Wait()
}
