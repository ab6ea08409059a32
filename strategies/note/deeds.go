package note

import (
	"strings"

	"github.com/kagewasm/kagewasm/strategies/note/internal/work"
)

// Who goes on must not do again what was done for good: calls that changed something, commits, what persons ran.

// deeds adds what was done that must not be done again, the newest first: all of it by what it came to, then, where
// there is room, calls by their sums, and by all that tells them apart. It returns what it costs.
func (v *view) deeds(budget int) int {
	left := budget
	for _, shortest := range []bool{true, false} {
		for i := len(v.turns) - 1; i >= 0; i-- {
			for k, line := range v.turns[i].came {
				if !isDeed(line) {
					continue
				}
				forms := bySums(shorterCalls(line))
				if shortest {
					forms = forms[len(forms)-1:]
				} else if short := v.came[i][k]; short != "" {
					left += v.count(short) + 2 // it fits again
				}
				v.takeLine(i, k, &left, forms...)
			}
		}
	}
	return budget - left
}

// leastDeeds is what all that was done costs in its shortest form, in tokens.
func leastDeeds(turns []turn, count func(string) int) (cost int) {
	for i := range turns {
		for _, line := range turns[i].came {
			if isDeed(line) {
				forms := bySums(shorterCalls(line))
				cost += count(forms[len(forms)-1]) + 2
			}
		}
	}
	return cost
}

// isDeed reports whether a line tells what was done that must not be done again: it is
// told of turns too that there is no other room for.
func isDeed(line string) bool {
	return strings.HasPrefix(line, work.Called) || strings.HasPrefix(line, work.Committed) ||
		strings.HasPrefix(line, work.Ran)
}
