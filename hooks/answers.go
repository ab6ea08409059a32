package hooks

import (
	"fmt"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
)

// Answers is what the plugins answered to one hook.
type Answers struct {
	// Retained are the facts to keep, in the order of the plugins; a compactor's come last.
	Retained []Fact
	// Wishes are the compactions that plugins ask for once the turn is over, in the order of the plugins.
	// One compaction answers them all.
	Wishes []Wish
	// Outcomes has an entry for each plugin that handles the hook. Failures has one for each that
	// failed, or was not called because it had failed too often.
	Outcomes []Outcome
	Failures []*abi.Error
	// Late are the calls that were not waited for; nil where there are none.
	Late *Late
}

// Fact is something a plugin wants kept beyond the session.
type Fact struct {
	Plugin string `json:"plugin"`
	Call   string `json:"call"`
	Text   string `json:"text"`
}

// take collects what any plugin may answer to any hook.
func (all *Answers) take(in *abi.Input, a answer) {
	if a.outcome.Error == nil && !a.proposes {
		a.permit.succeeded()
	}
	if a.out != nil {
		name := a.outcome.Plugin
		if n := len(a.out.Retain); n > abi.MaxRetained {
			a.outcome.warn("retains %d facts: the first %d are taken", n, abi.MaxRetained)
			a.out.Retain = a.out.Retain[:abi.MaxRetained]
		}
		for _, text := range a.out.Retain {
			all.Retained = append(all.Retained, Fact{Plugin: name, Call: in.Call + "/" + name, Text: text})
		}
	}
	if a.wish != nil {
		all.Wishes = append(all.Wishes, *a.wish)
	}
	all.Outcomes = append(all.Outcomes, a.outcome)
	if a.outcome.Error != nil {
		all.Failures = append(all.Failures, a.outcome.Error)
	}
}

// onlyRetain takes the answer to a hook in which inject, pins, proposals and cancels have no effect.
// Where the answer has any, the outcome gets the warning.
func (all *Answers) onlyRetain(in *abi.Input, a answer, warning string) {
	if a.out != nil && (a.out.Inject != "" || a.out.Compacts() || a.out.Cancel ||
		len(a.out.AlwaysKeep)+len(a.out.Release) > 0) {
		a.outcome.warn("%s", warning)
	}
	all.take(in, a)
}

func (all *Answers) of(plugin string) *Outcome {
	for i := range all.Outcomes {
		if all.Outcomes[i].Plugin == plugin {
			return &all.Outcomes[i]
		}
	}
	return nil
}

func (o *Outcome) warn(format string, args ...any) {
	o.Warnings = append(o.Warnings, fmt.Sprintf(format, args...))
}

// remark returns what a plugin says in passing, on one line: hosts write such lines to logs.
func remark(text string) string { return clip.OneLine(shown(text)) }

// maxShown is the most bytes of a plugin's text that are shown or passed on.
const maxShown = 2000

// shown returns the text of a plugin, made fit to be shown or passed on.
func shown(text string) string {
	text = clip.Head(strings.TrimSpace(text), 2*maxShown) // what is dropped of a megabyte need not be read
	return clip.Cut(strings.TrimSpace(abi.Defuse(text)), maxShown, "…")
}
