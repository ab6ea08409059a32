package hooks_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/features"
)

func TestWhoMayTakePart(t *testing.T) {
	features.Proves(t, "K6")
	nothing := says(nil)
	both := compactor("both", nothing)
	both.manifest.Roles = []abi.PluginRole{abi.RoleObserver, abi.RoleCompactor}
	for _, tc := range []struct {
		why     string
		plugins []hooks.Plugin
		refused string // the plugin the error names, "" for none
	}{
		{"nobody has to", nil, ""},
		{"any number of observers", []hooks.Plugin{observer("a", nothing), observer("b", nothing)}, ""},
		{"one compactor among them", []hooks.Plugin{observer("a", nothing), compactor("c", nothing),
			observer("b", nothing)}, ""},
		{"a second compactor would have to win or lose silently",
			[]hooks.Plugin{compactor("c", nothing), observer("a", nothing), compactor("d", nothing)}, "d"},
		{"a plugin with both roles is a compactor", []hooks.Plugin{compactor("c", nothing), both}, "both"},
		{"names are namespaces: two plugins of one name would share what they store",
			[]hooks.Plugin{observer("a", nothing), observer("a", nothing)}, "a"},
		{"a compactor's name counts too", []hooks.Plugin{compactor("a", nothing), observer("a", nothing)}, "a"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			_, err := hooks.New(tc.plugins, hooks.Options{})
			if tc.refused == "" {
				if err != nil {
					t.Errorf("%v", err)
				}
				return
			}
			if e := abi.AsError(err); e == nil || e.Code != abi.CodeUsage || e.Plugin != tc.refused || e.Hint == "" {
				t.Errorf("got %+v", e)
			}
		})
	}
}

func TestPreAsksObserversThenTheCompactor(t *testing.T) {
	features.Proves(t, "K19")
	observersDone := make(chan struct{}, 2)
	watch := func(ctx context.Context, in *abi.Input) (*abi.Output, abi.CallStats, error) {
		observersDone <- struct{}{}
		return nil, abi.CallStats{}, nil
	}
	last := func(ctx context.Context, in *abi.Input) (*abi.Output, abi.CallStats, error) {
		if len(observersDone) != 2 {
			t.Errorf("the compactor was called after %d of 2 observers", len(observersDone))
		}
		return &abi.Output{Summary: "short"}, abi.CallStats{}, nil
	}
	// The compactor is named first and called last.
	d := dispatcher(t, 0, compactor("c", last), observer("a", watch), observer("b", watch))
	pre := d.Pre(t.Context(), input(abi.HookPreCompact), patient)
	want := abi.Source{Type: abi.SourcePlugin, Name: "c", Version: "1", Digest: "sha256:c"}
	if len(pre.Proposals) != 1 || pre.Proposals[0].Output.Summary != "short" || pre.Proposals[0].Source != want {
		t.Errorf("proposals %+v", pre.Proposals)
	}
	if got := outcomes(pre.Outcomes); got != "a:nothing b:nothing c:ok" {
		t.Errorf("outcomes %s", got)
	}
}

func outcomes(list []hooks.Outcome) string {
	s := ""
	for i, o := range list {
		if i > 0 {
			s += " "
		}
		s += o.Plugin + ":" + o.Outcome
	}
	return s
}

func TestWhatPluginsSay(t *testing.T) {
	features.Proves(t, "K30")
	d := dispatcher(t, 0,
		observer("a", says(&abi.Output{Retain: []string{"f1", "f2"}, Inject: "remember", AlwaysKeep: []string{"m1"}})),
		observer("mute", says(&abi.Output{})),
		observer("bold", says(&abi.Output{Summary: "mine", Cancel: true, RequestCompaction: &abi.CompactionRequest{}})),
		compactor("c", says(&abi.Output{Retain: []string{"f3"}, Inject: "too", Messages: []abi.OutputMessage{}})))
	pre := d.Pre(t.Context(), input(abi.HookPreCompact), patient)

	facts := []hooks.Fact{{"a", "c1/a", "f1"}, {"a", "c1/a", "f2"}, {"c", "c1/c", "f3"}}
	if !reflect.DeepEqual(pre.Retained, facts) {
		t.Errorf("retained %+v", pre.Retained)
	}
	if len(pre.Injected) != 2 || pre.Injected[0].Text != "remember" || pre.Injected[0].Kind != abi.KindInjected ||
		pre.Injected[1].Source.Name != "c" {
		t.Errorf("injected %+v", pre.Injected)
	}
	if !reflect.DeepEqual(pre.AlwaysKeep, []hooks.Keep{{Plugin: "a", ID: "m1"}}) {
		t.Errorf("always keep %v", pre.AlwaysKeep)
	}
	if len(pre.Proposals) != 1 || pre.Proposals[0].Source.Name != "c" {
		t.Errorf("proposals %+v: an observer's summary was taken", pre.Proposals)
	}
	if got := outcomes(pre.Outcomes); got != "a:ok mute:nothing bold:ok c:ok" {
		t.Errorf("outcomes %s: an observer cannot cancel", got)
	}
	if warned := pre.Outcomes[2].Warnings; len(warned) != 2 {
		t.Errorf("what an observer may not say is ignored silently: %q", warned)
	}
	if len(pre.Failures) != 0 {
		t.Errorf("failures %v", pre.Failures)
	}
}

func TestHooksCancel(t *testing.T) {
	features.Proves(t, "K19")
	d := dispatcher(t, 0, compactor("c", says(&abi.Output{Cancel: true, Reason: "busy", Summary: "ignored"})))
	pre := d.Pre(t.Context(), input(abi.HookPreCompact), patient)
	if len(pre.Proposals) != 0 || pre.Cancelled || outcomes(pre.Outcomes) != "c:cancelled" ||
		len(pre.Outcomes[0].Warnings) != 1 {
		t.Errorf("proposals %+v, outcomes %+v", pre.Proposals, pre.Outcomes)
	}
}

func TestFailuresAreKeptWithTheirPlace(t *testing.T) {
	features.Proves(t, "K7")
	cause := &abi.Error{Code: abi.CodeTrap, Phase: abi.PhaseInstantiate, Message: "unreachable"}
	for _, tc := range []struct {
		why   string
		do    call
		code  abi.Code
		phase abi.Phase
	}{
		{"an error of the runtime keeps its code and phase", fails(cause), abi.CodeTrap, abi.PhaseInstantiate},
		{"any other error is the host's, in the call", fails(errors.New("boom")), abi.CodeInternal, abi.PhaseCall},
		{"one wrapped is found", fails(fmt.Errorf("engine: %w", cause)), abi.CodeTrap, abi.PhaseInstantiate},
		{"a deadline is told from a fault", hangs, abi.CodeDeadline, abi.PhaseCall},
		{"a panic stops nobody else", panics, abi.CodeInternal, abi.PhaseCall},
	} {
		t.Run(tc.why, func(t *testing.T) {
			d := dispatcher(t, 20*time.Millisecond, observer("good", says(&abi.Output{Inject: "x"})),
				observer("bad", tc.do), compactor("c", tc.do))
			for _, hook := range []abi.Hook{abi.HookPreCompact, abi.HookPostCompact} {
				t.Run(string(hook), func(t *testing.T) {
					var failures []*abi.Error
					var list []hooks.Outcome
					if hook == abi.HookPreCompact {
						pre := d.Pre(t.Context(), input(hook), patient)
						failures, list = pre.Failures, pre.Outcomes
						if len(pre.Proposals) > 0 || !pre.Fallback {
							t.Errorf("proposal %v by a compactor that failed: %v", pre.Proposals, pre.Fallback)
						}
					} else {
						post := d.Post(t.Context(), input(hook), patient, nil)
						failures, list = post.Failures, post.Outcomes
					}
					if got := outcomes(list); got != "good:ok bad:failed c:failed" {
						t.Errorf("outcomes %s", got)
					}
					for i, name := range []string{"bad", "c"} {
						t.Run(name, func(t *testing.T) {
							if e := failures[i]; e.Code != tc.code || e.Phase != tc.phase || e.Plugin != name ||
								e.Hook != hook || e.Error() == "" {
								t.Errorf("%s: got %+v", hook, e)
							}
						})
					}
				})
			}
		})
	}
	if cause.Plugin != "" {
		t.Error("the plugin's own error was written to")
	}
}

// TestTheCallerGaveUp: a canceled caller is not a plugin's fault.
func TestTheCallerGaveUp(t *testing.T) {
	features.Proves(t, "K7")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	pre := dispatcher(t, 0, observer("a", hangs)).Pre(ctx, input(abi.HookPreCompact), patient)
	if len(pre.Failures) != 1 || pre.Failures[0].Code != abi.CodeCanceled {
		t.Errorf("failures %v", pre.Failures)
	}
}

func TestRefuse(t *testing.T) {
	features.Proves(t, "K7")
	d := dispatcher(t, 0, observer("a", says(&abi.Output{Inject: "x"})), compactor("c", says(&abi.Output{Summary: "s"})))
	pre := d.Pre(t.Context(), input(abi.HookPreCompact), patient)
	err := &abi.Error{Code: abi.CodePinned, Phase: abi.PhaseCheck, Message: "supersedes m0"}
	before := *pre
	list, failures := pre.Settle("", refused("c", err))
	if !reflect.DeepEqual(*pre, before) {
		t.Errorf("what the hook returned was written to: %+v", pre)
	}
	if got := outcomes(list); got != "a:ok c:refused" {
		t.Errorf("outcomes %s", got)
	}
	want := abi.Error{Code: abi.CodePinned, Phase: abi.PhaseCheck, Message: "supersedes m0", Plugin: "c",
		Hook: abi.HookPreCompact,
		Hint: "return pinned messages and the current turn as {\"ref\": id}"}
	if len(failures) != 1 || *failures[0] != want || list[1].Error != failures[0] {
		t.Errorf("failures %+v", failures)
	}
	if err.Plugin != "" {
		t.Error("the firewall's error was written to")
	}
}

func TestPostOnSuccessAndOnFailure(t *testing.T) {
	features.Proves(t, "O7")
	for _, success := range []bool{true, false} {
		t.Run(fmt.Sprintf("success %v", success), func(t *testing.T) {
			var told []bool
			note := func(_ context.Context, in *abi.Input) (*abi.Output, abi.CallStats, error) {
				told = append(told, in.Record.Success)
				return &abi.Output{Retain: []string{"seen"}, Summary: "too late"}, abi.CallStats{}, nil
			}
			in := input(abi.HookPostCompact)
			in.Record.Success = success
			// A compactor hears of it too, and one after the other they come.
			post := dispatcher(t, 0, compactor("c", note)).Post(t.Context(), in, patient, nil)
			if !reflect.DeepEqual(told, []bool{success}) {
				t.Errorf("success %v: told %v", success, told)
			}
			if !reflect.DeepEqual(post.Retained, []hooks.Fact{{"c", "c1/c", "seen"}}) {
				t.Errorf("retained %+v", post.Retained)
			}
			if outcomes(post.Outcomes) != "c:ok" || len(post.Outcomes[0].Warnings) != 1 {
				t.Errorf("outcomes %+v: a summary after the fact has no effect, and says so", post.Outcomes)
			}
		})
	}
}

func TestStats(t *testing.T) {
	d := dispatcher(t, 0, observer("a", func(context.Context, *abi.Input) (*abi.Output, abi.CallStats, error) {
		time.Sleep(2 * time.Millisecond)
		return nil, abi.CallStats{Fuel: 7}, nil
	}))
	o := d.Pre(t.Context(), input(abi.HookPreCompact), patient).Outcomes[0]
	if o.Fuel != 7 || o.MS < 2 || o.Hook != abi.HookPreCompact {
		t.Errorf("outcome %+v: the plugin's figures, and the wall clock where it gave none", o)
	}
}

// TestRetainIsBounded: a flood of facts is cut, and the report says so.
func TestRetainIsBounded(t *testing.T) {
	d := dispatcher(t, 0, observer("a", says(&abi.Output{Retain: make([]string, abi.MaxRetained+1)})))
	pre := d.Pre(t.Context(), input(abi.HookPreCompact), patient)
	if len(pre.Retained) != abi.MaxRetained || len(pre.Outcomes[0].Warnings) != 1 {
		t.Errorf("%d facts, warnings %q", len(pre.Retained), pre.Outcomes[0].Warnings)
	}
}

func TestWarn(t *testing.T) {
	pre := dispatcher(t, 0, observer("a", says(nil)), observer("b", says(nil))).Pre(t.Context(), input(abi.HookPreCompact),
		patient)
	list, _ := pre.Settle("", []hooks.Remark{{Plugin: "b", Warning: "100% odd"}})
	if len(list[0].Warnings) != 0 || !reflect.DeepEqual(list[1].Warnings, []string{"100% odd"}) {
		t.Errorf("outcomes %+v", list)
	}
}
