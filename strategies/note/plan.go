package note

import "strings"

// A plan that a person approved is what there is to do until its turn has ended: it is told in the place of closing
// words where none went, before most of what came of words.

// planMark begins a plan that was approved.
const planMark = "Plan that was approved:"

// planPart is the part of a note, one of so many, that it may take: its file can be read again.
const planPart = 3

// plans makes a plan what the agent said last in a turn.
func (t *turn) plans(text string) {
	t.said, t.fuller = planMark+" "+closing(text), planMark+" "+fullerClosing(text)
	t.lines = planMark + "\n" + moreLine + writtenClosing(text)
}

// isPlan reports whether what is told of the agent's words is a plan.
func (t *turn) isPlan() bool { return strings.HasPrefix(t.said, planMark) }
