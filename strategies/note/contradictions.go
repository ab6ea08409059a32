package note

import (
	"slices"

	"github.com/kagewasm/kagewasm/internal/lower"
)

// Where what somebody asked for and what was done contradict each other, who goes on must know both: whatever
// settles that silently may settle it wrongly. A model is asked to say so, and the next one may leave it out. So a
// sentence with which an agent said it stands below every summary, word for word.

// contradictingWords say that one thing is at odds with another, claimingWords what somebody or a document says,
// and opposingWords that it is not so.
var (
	contradictingWords           = newVocabulary("contradicting")
	claimingWords, opposingWords = newVocabulary("claiming"), newVocabulary("opposing")
)

// contradicts reports whether a sentence of an agent says that what somebody asked for, or a document says, is not
// so.
func contradicts(s string) bool {
	low := lower.Text(s + " ")
	behind := claimingWords.behind(low)
	if behind == "" { // a form of such a word, or a script without spaces
		behind = low
	}
	return !intends().MatchString(s) &&
		(contradictingWords.in(low) || claimingWords.in(low) && opposingWords.in(behind))
}

// toldBeside says which findings of agents a note tells beside its budget: all, and below a summary, which tells
// them, contradictions alone.
func toldBeside(summarized bool) func(sentence string) bool {
	if summarized {
		return contradicts
	}
	return func(string) bool { return true }
}

// foundOn are the lines on a turn with a sentence of which something is true, by their place, and whether the
// closing words of the agent have one.
func foundOn(v *view, i int, wanted func(sentence string) bool) (lines []int, said bool) {
	t := &v.turns[i]
	for k, line := range t.came {
		if isFound(line) && slices.ContainsFunc(foundIn(line), wanted) {
			lines = append(lines, k)
		}
	}
	said = slices.ContainsFunc(v.memory.findingsOf(t.said), func(f finding) bool { return f.weighs() && wanted(f.text) })
	return lines, said
}

// heldContradictions is what is held for the lines that tell them below a summary, in tokens.
func heldContradictions(v *view, summarized bool, most int) (need int) {
	if !summarized {
		return 0
	}
	for i := range v.turns {
		lines, said := foundOn(v, i, contradicts)
		for _, k := range lines {
			need += v.count(v.turns[i].came[k]) + 2
		}
		if said {
			need += v.count(agentMark+v.turns[i].said) + 2
		}
	}
	return min(need, most)
}
