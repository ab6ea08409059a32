package note

import (
	"cmp"
	"slices"
	"strings"
)

// What the agent said at the end of a turn is told in short first, and in full where all else has room: a plan that
// was approved is what there is to do.

// sayLast adds what the agent said in the turns of which nothing else is told, in short where there is no room for all
// of it, where there are few turns: in a long thread others tell what was worked on.
func sayLast(v *view, left int) {
	if len(v.turns) > fewTurns {
		return
	}
	for i := len(v.turns) - 1; i >= 0; i-- {
		t := &v.turns[i]
		told := slices.ContainsFunc(v.came[i], func(line string) bool { return line != "" })
		if told || t.said == "" || v.said[i] != "" || v.folded(i) {
			continue
		}
		for _, form := range []string{t.said, firstSaid(t.said)} {
			if n := v.count(agentMark+form) + 2; n <= left {
				v.said[i], left = form, left-n
				break
			}
		}
	}
}

// nameParts names the headings of long answers of which nothing is told, the newest first, in so many tokens: who goes
// on knows that they were given, and what to look for.
func nameParts(v *view, left int) {
	for i := len(v.turns) - 1; i >= 0; i-- {
		t := &v.turns[i]
		if v.said[i] != "" || t.lines == "" || v.folded(i) {
			continue
		}
		heads := headingsIn(wordLines(strings.ReplaceAll(t.lines, "\n"+moreLine, "\n")), false)
		mark := markOf(heads, maxParts)
		if n := v.count(agentMark+mark) + 2; len(heads) > 1 && n <= left {
			v.said[i], left = mark, left-n
		}
	}
}

const (
	maxParts   = 5  // headings that are told of an answer of which nothing else is
	leastParts = 40 // tokens that they may cost
)

// fewTurns is how many turns are few.
const fewTurns = 4

// sayMore adds more of the words of the agent where all of their short form is told, the newest first.
func (v *view) sayMore(left *int) {
	for i := len(v.turns) - 1; i >= 0; i-- {
		t := &v.turns[i]
		if t.fuller == "" || v.said[i] != t.said {
			continue
		}
		if n := v.count(agentMark+t.fuller) - v.count(agentMark+t.said); n <= *left {
			v.said[i], *left = t.fuller, *left-n
		}
	}
	for i := len(v.turns) - 1; i >= max(0, len(v.turns)-maxAsWritten); i-- {
		t := &v.turns[i]
		if t.lines == "" || v.said[i] != cmp.Or(t.fuller, t.said) || toldElsewhere(v, t) {
			continue
		}
		if n := say(v, i, *left); n > 0 {
			*left -= n
			unlist(v, i+1, left)
		}
	}
}

// say tells the words of the agent of turn i as they were written, as many of them as fit into so many tokens, where
// that is more than is told of them. It returns what that costs more.
func say(v *view, i, left int) (cost int) {
	t := &v.turns[i]
	for size := maxWritten; size >= maxWritten/3; size -= maxWritten / 12 {
		lines := t.lines
		if size < maxWritten {
			lines = asWritten(strings.ReplaceAll(lines, "\n"+moreLine, "\n"), size)
		}
		n := v.count(agentMark+lines) + 2
		if v.said[i] != "" {
			n -= v.count(agentMark+v.said[i]) + 2
		}
		if n <= left && len(lines) > len(v.said[i]) {
			v.said[i] = lines
			return n
		}
	}
	return 0
}

// sayAnswered tells what the newest words of a person answer before all else that came of words, where they say little
// by themselves and the agent went on since, or the plan that it carries out. It returns what that costs.
func sayAnswered(v *view, steps []step, budget int) (cost int) {
	i := len(v.turns) - 1
	if i >= 0 && v.turns[i].isPlan() && !v.folded(i) {
		return say(v, i, budget*answeredPart/planPart)
	}
	if i < 1 || v.turns[i-1].lines == "" || !isAnswer(cmp.Or(v.turns[i].words, v.turns[i].opens)) || v.folded(i-1) {
		return 0
	}
	said := func(s step) bool { return s.said != "" && s.turn == v.turns[i].n }
	if !slices.ContainsFunc(steps, said) {
		return 0 // it is the last that was said, and told so
	}
	if cost = say(v, i-1, budget); cost > 0 {
		left := 0
		unlist(v, i, &left)
		cost -= left
	}
	return cost
}

// sayOnly tells all that the agent said last in its turn, where nothing else is a step: once, and the next note has it
// too. It returns what that costs, and 0 where there is no room for it.
func sayOnly(v *view, steps []step, budget int) (cost int) {
	last := len(v.turns) - 1
	if len(steps) != 1 || steps[0].said == "" || last < 0 || steps[0].turn != v.turns[last].n || v.folded(last) {
		return 0
	}
	return say(v, last, budget)
}

// toldAbove stands for a line of a turn that is told in the words above it: it is not written.
const toldAbove = " "

// unlist leaves out the entries of a list that a turn answers, where the words that hold it stand above, all of them.
func unlist(v *view, i int, left *int) {
	if i >= len(v.turns) || strings.Contains(v.said[i-1], "\n"+moreLine+strings.TrimSpace(leftOutHere)) {
		return
	}
	for k, line := range v.turns[i].came {
		if strings.HasPrefix(line, listedMark) && v.came[i][k] != "" {
			*left += v.count(v.came[i][k]) + 2
			v.came[i][k] = toldAbove
		}
	}
}

// maxAsWritten is of how many turns the words of the agent may be told as they were written: what is older was mostly
// done or changed since, and the newest messages need the room.
const maxAsWritten = 8

// tellsAll reports whether lines on a turn are told, each of them.
func tellsAll(told, came []string) bool {
	return slices.EqualFunc(told, came, func(a, b string) bool { return a == b || a == toldAbove })
}

// sayable reports whether all is said of the agent's words of a turn that may be.
func sayable(v *view, i int) bool {
	t := &v.turns[i]
	if i >= len(v.turns)-maxAsWritten && t.lines != "" && !toldElsewhere(v, t) {
		return v.said[i] == t.lines
	}
	return v.said[i] == cmp.Or(t.fuller, t.said)
}

// toldElsewhere reports whether the lines of an agent's words are told where it stood at the end.
func toldElsewhere(v *view, t *turn) bool {
	first, rest, _ := strings.Cut(t.lines, "\n")
	second, _, _ := strings.Cut(rest, "\n")
	return strings.Contains(v.stood+"\n", "- "+agentMark+first+"\n"+second+"\n")
}
