package hooks_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/features"
)

// TestRequestsInACompaction: what a plugin asks for in the hooks of a compaction is taken up, for when the turn is
// over; not of one that is not granted it, and not in a compaction for which plugins asked, which is told.
func TestRequestsInACompaction(t *testing.T) {
	features.Proves(t, "T2")
	out := &abi.Output{RequestCompaction: &abi.CompactionRequest{Instructions: "the ports"}}
	granted := func(name string) *fake {
		f := observer(name, says(out))
		f.granted = []abi.Capability{abi.CapCompactionRequest}
		return f
	}
	ask := func(hook abi.Hook, reason abi.TriggerReason) hooks.Answers {
		d := dispatcher(t, 0, granted("a"), observer("denied", says(out)))
		in := input(hook)
		in.Trigger.Reason = reason
		if hook == abi.HookPreCompact {
			return d.Pre(t.Context(), in, patient).Answers
		}
		return *d.Post(t.Context(), in, patient, nil)
	}
	for _, hook := range []abi.Hook{abi.HookPreCompact, abi.HookPostCompact} {
		for _, reason := range []abi.TriggerReason{abi.TriggerThreshold, abi.TriggerAgent, abi.TriggerPlugin} {
			t.Run(string(hook)+" "+string(reason), func(t *testing.T) {
				said := ask(hook, reason)
				taken := reason != abi.TriggerPlugin
				if got := hooks.Instructed(said.Wishes); taken && (len(said.Wishes) != 1 || got != "a: the ports") ||
					!taken && len(said.Wishes) != 0 {
					t.Errorf("wishes %+v", said.Wishes)
				}
				for i, want := range []string{"a plugin asked for this compaction", "needs the capability compaction.request"} {
					warned := strings.Join(said.Outcomes[i].Warnings, "\n")
					if expected := i == 1 || !taken; strings.Contains(warned, want) != expected {
						t.Errorf("%s is told %q", said.Outcomes[i].Plugin, warned)
					}
				}
			})
		}
	}
}

// TestLateRequests: a plugin that is not waited for is listened to when it asks.
func TestLateRequests(t *testing.T) {
	features.Proves(t, "T2")
	goes := make(chan struct{})
	slow := observer("slow", func(context.Context, *abi.Input) (*abi.Output, abi.CallStats, error) {
		<-goes
		return &abi.Output{RequestCompaction: &abi.CompactionRequest{}}, abi.CallStats{}, nil
	})
	slow.granted = []abi.Capability{abi.CapCompactionRequest}
	post := dispatcher(t, 0, slow).Post(t.Context(), input(abi.HookPostCompact), time.Nanosecond, nil)
	close(goes)
	if len(post.Wishes) != 0 || len(post.Late.Answers().Wishes) != 1 {
		t.Errorf("%+v", post)
	}
}

// TestRepeats: what a plugin asks for in the same words is the same wish, and what an agent asks for is another one.
func TestRepeats(t *testing.T) {
	features.Proves(t, "T2")
	ports := hooks.Wish{Plugin: "a", Instructions: "the ports"}
	for _, tc := range []struct {
		why      string
		one, two hooks.Wish
		want     bool
	}{
		{"the same words", ports, ports, true},
		{"other words", ports, hooks.Wish{Plugin: "a", Instructions: "the names"}, false},
		{"another plugin", ports, hooks.Wish{Plugin: "b", Instructions: "the ports"}, false},
		{"an agent", hooks.Wish{Instructions: "the ports"}, hooks.Wish{Instructions: "the ports"}, false},
	} {
		t.Run(tc.why, func(t *testing.T) {
			if got := tc.one.Repeats(tc.two); got != tc.want {
				t.Errorf("it repeats: %v", got)
			}
		})
	}
}
