// Package near finds the names that a person may have meant.
package near

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/internal/lists"
)

// To returns at most n of the known names that are near to name, the nearest first:
// those that a few slips turn into it, and that share half of their letters with it, and
// those of which it is the beginning, but for one slip. Letter case does not matter. Of
// names with dots the part that all begin with does not count.
func To(name string, known []string, n int) []string {
	type candidate struct {
		name string
		away int
	}
	var found []candidate
	for _, k := range known {
		a, b := apart(strings.ToLower(name), strings.ToLower(k))
		away := distance(a, b)
		if len(a) >= shortestBeginning && len(b) > len(a) {
			if slips := distance(a, b[:len(a)+1]); slips <= 1 {
				away = min(away, slips+1)
			}
		}
		if away <= max(2, len(a)/3) && 2*away <= max(len(a), len(b)) {
			found = append(found, candidate{k, away})
		}
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.away, b.away), strings.Compare(a.name, b.name))
	})
	return lists.Map(found[:min(n, len(found))], func(c candidate) string { return c.name })
}

// shortestBeginning is how much of a name is told apart from a slip.
const shortestBeginning = 3

// apart is what follows the dotted beginning that both names share.
func apart(a, b string) (string, string) {
	for {
		first, restA, more := strings.Cut(a, ".")
		restB, same := strings.CutPrefix(b, first+".")
		if !more || !same {
			return a, b
		}
		a, b = restA, restB
	}
}

// distance is how many letters have to be changed, added, taken away or
// swapped with the next to get from a to b.
func distance(a, b string) int {
	const most = 64 // names are short; what is not is near to nothing
	if len(a) > most || len(b) > most {
		return most
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
