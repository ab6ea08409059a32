package hooks

import (
	"context"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/lists"
)

// Turn is what plugins answered when a turn of the agent had completed.
type Turn struct {
	Answers
	// Wishes are the compactions that plugins ask for, in the order of the plugins. One compaction
	// answers them all.
	Wishes []Wish
}

// Wish is a plugin's request for a compaction.
type Wish struct {
	Plugin       string `json:"plugin"`
	Instructions string `json:"instructions,omitempty"`
}

// Instructions returns the instructions of all wishes, a line each, with the name of the plugin in
// front: they are a plugin's words, and must not be taken for a person's.
func (t *Turn) Instructions() string {
	said := lists.Filter(t.Wishes, func(w Wish) bool { return w.Instructions != "" })
	return strings.Join(lists.Map(said, func(w Wish) string { return w.Plugin + ": " + w.Instructions }), "\n")
}

// TurnEnd tells plugins that a turn has completed, and returns the requests of those that are granted
// compaction.request. It compacts nothing: the caller does, after the turn. Requests of a plugin that
// asks more than three turns of a session in a row have no effect, until it once does not ask, or a
// compaction comes for another reason.
func (d *Dispatcher) TurnEnd(ctx context.Context, in *abi.Input) *Turn {
	turn := &Turn{}
	if d.Empty(in.Hook) {
		return turn
	}
	for _, a := range d.ask(ctx, d.all, in) {
		if a.outcome.Error == nil {
			d.requested(turn, in, &a)
		}
		turn.onlyRetain(in, a, "at the end of a turn only retain and request_compaction have an effect")
	}
	return turn
}

// requested takes a plugin's request, if it made one that has an effect.
func (d *Dispatcher) requested(turn *Turn, in *abi.Input, a *answer) {
	key := streakKey(&in.Session, a.outcome.Plugin)
	var req *abi.CompactionRequest
	if a.out != nil {
		req = a.out.RequestCompaction
	}
	switch {
	case req == nil:
		if !in.Trigger.DryRun {
			d.requests.end(key)
		}
	case !a.plugin.Granted(abi.CapCompactionRequest):
		a.outcome.warn("request_compaction is not taken: it needs the capability %s, asked for in the manifest and granted",
			abi.CapCompactionRequest)
	case in.Trigger.DryRun && d.requests.full(key) || !in.Trigger.DryRun && !d.requests.add(key):
		a.outcome.warn("request_compaction is not taken: it asked %d turns in a row", maxInARow)
	default:
		turn.Wishes = append(turn.Wishes, Wish{Plugin: a.outcome.Plugin, Instructions: shown(req.Instructions)})
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
