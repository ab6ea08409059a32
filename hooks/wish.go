package hooks

import (
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

// Wish is a request for a compaction that runs when the turn is over.
type Wish struct {
	// Plugin is who asks; empty where it is the agent itself.
	Plugin       string `json:"plugin,omitempty"`
	Instructions string `json:"instructions,omitempty"`
}

// Repeats reports whether w is another wish once more. A plugin may ask at each look: in the same words it wants the
// same compaction. An agent that asks again means what has happened since.
func (w Wish) Repeats(another Wish) bool { return w.Plugin != "" && w == another }

// Instructed returns the instructions of wishes, a line each. The name of the plugin stands in front:
// they are a plugin's words, and must not be taken for a person's.
func Instructed(list []Wish) string {
	var said []string
	for _, w := range list {
		switch {
		case w.Instructions == "":
		case w.Plugin == "":
			said = append(said, w.Instructions)
		default:
			said = append(said, w.Plugin+": "+w.Instructions)
		}
	}
	return strings.Join(said, "\n")
}

// requested takes a plugin's request, if it made one that has an effect. One that is made in a compaction
// for which plugins asked has none: each would cause the next.
func (d *Dispatcher) requested(in *abi.Input, a *answer) {
	var req *abi.CompactionRequest
	if a.out != nil {
		req = a.out.RequestCompaction
	}
	ends, key := in.Hook == abi.HookTurnEnd, streakKey(&in.Session, a.outcome.Plugin)
	const notTaken = "request_compaction is not taken: "
	switch {
	case req == nil:
		if ends && !in.Trigger.DryRun {
			d.requests.end(key)
		}
	case !a.plugin.Granted(abi.CapCompactionRequest):
		a.outcome.warn(notTaken+"it needs the capability %s, asked for in the manifest and granted", abi.CapCompactionRequest)
	case !ends && in.Trigger.Reason == abi.TriggerPlugin:
		a.outcome.warn(notTaken + "a plugin asked for this compaction, and one compaction would follow another for ever")
	case ends && (in.Trigger.DryRun && d.requests.full(key) || !in.Trigger.DryRun && !d.requests.add(key)):
		a.outcome.warn(notTaken+"it asked %d turns in a row", maxInARow)
	default:
		a.wish = &Wish{Plugin: a.outcome.Plugin, Instructions: shown(req.Instructions)}
	}
}

// compacts ends the rows of requests in a session that is compacted for another reason.
func (d *Dispatcher) compacts(in *abi.Input) {
	if in.Trigger.Reason == abi.TriggerPlugin || in.Trigger.DryRun {
		return
	}
	for _, p := range d.all {
		d.requests.end(streakKey(&in.Session, p.Manifest().Name))
	}
}
