package turnend_test

import (
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/turnend"
)

// TestWhoWants: a compaction is a plugin's as soon as a plugin asks, before the end of the turn or at it, whoever asks
// beside; where the agent alone asks it is the agent's.
func TestWhoWants(t *testing.T) {
	features.Proves(t, "T2")
	agent, plugin := hooks.Wish{Instructions: "hosts"}, hooks.Wish{Plugin: "asks", Instructions: "ports"}
	due := &turnend.Wanted{Reason: abi.TriggerThreshold}
	atEnd := &turnend.Wanted{Reason: abi.TriggerPlugin, Instructions: "ends: files"}
	for _, c := range []struct {
		at                   *turnend.Wanted
		held                 []hooks.Wish
		reason, instructions string
	}{
		{nil, []hooks.Wish{agent}, "agent", "hosts"},
		{due, []hooks.Wish{agent}, "agent", "hosts"},
		{nil, []hooks.Wish{agent, plugin}, "plugin", "hosts\nasks: ports"},
		{atEnd, []hooks.Wish{agent}, "plugin", "hosts\nends: files"},
		{atEnd, nil, "plugin", "ends: files"},
	} {
		e := turnend.Ended{Wanted: c.at}
		e.Wants(c.held)
		if w := e.Wanted; w == nil || string(w.Reason) != c.reason || w.Instructions != c.instructions {
			t.Errorf("%v and at the end %v: %+v", c.held, c.at, w)
		}
	}
}
