// Package turnend is what agents and plugins tell each other at the end of a turn where the agent keeps its messages:
// the agent says that a turn has ended, and hears whether a plugin wants a compaction, which the agent starts itself.
package turnend

import (
	"slices"
	"strings"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
)

// Ended is what came of the end of a turn.
type Ended struct {
	// Listening says that a plugin hears of ends of turns. Where none does the messages are not read, and the agent
	// need not tell of the next one.
	Listening bool `json:"listening" doc:"a plugin hears of ends of turns; where none does nothing is read"`
	// Wanted is the compaction that is to run now that the turn is over, nil where none is.
	Wanted *Wanted `json:"wanted"`
	*kagewasm.Turn
}

// Wanted is a compaction that somebody wants.
type Wanted struct {
	// Reason is plugin or agent for who asked for it, threshold where the session is too long.
	Reason abi.TriggerReason `json:"reason" doc:"plugin or agent, or threshold where nobody asked and the session is too long"`
	// Instructions are what those who asked want kept in view.
	Instructions string `json:"instructions,omitempty"`
}

// Heard reports whether any of the plugins hears of ends of turns.
func Heard(plugins []hooks.Plugin) bool {
	return slices.ContainsFunc(plugins, func(p hooks.Plugin) bool { return slices.Contains(p.Hooks(), abi.HookTurnEnd) })
}

// Held reports whether any of the plugins may have asked for a compaction in the turn: while another one ran.
func Held(plugins []hooks.Plugin) bool {
	return slices.ContainsFunc(plugins, func(p hooks.Plugin) bool { return p.Granted(abi.CapCompactionRequest) })
}

// Wants has the agent make a compaction that was asked for in the turn. It is a plugin's as soon as one asks.
func (e *Ended) Wants(held []hooks.Wish) {
	if len(held) == 0 {
		return
	}
	w := &Wanted{Reason: abi.TriggerPlugin, Instructions: hooks.Instructed(held)}
	also := e.Wanted
	asked := also != nil && also.Reason == abi.TriggerPlugin
	if !asked && !slices.ContainsFunc(held, func(w hooks.Wish) bool { return w.Plugin != "" }) {
		w.Reason = abi.TriggerAgent
	}
	if also != nil && also.Instructions != "" {
		w.Instructions = strings.TrimPrefix(w.Instructions+"\n"+also.Instructions, "\n")
	}
	e.Wanted = w
}

// Of is what an agent is told of a turn.
func Of(t *kagewasm.Turn) *Ended {
	e := &Ended{Listening: true, Turn: t}
	if w := t.Wanted; w != nil {
		e.Wanted = &Wanted{Reason: abi.TriggerThreshold, Instructions: w.Instructions}
		if w.Reason == abi.TriggerPlugin {
			e.Wanted.Reason = w.Reason
		}
	}
	return e
}
