// Package near finds the names that a person may have meant.
package near

import (
	"cmp"
	"slices"
	"strings"
)

// To returns at most n of the known names that are near to name, the nearest first:
// those that a few slips turn into it, and that share half of their letters with it.
// Letter case does not matter.
func To(name string, known []string, n int) []string {
	type candidate struct {
		name string
		away int
	}
	var found []candidate
	most := max(2, len(name)/3)
	for _, k := range known {
		if away := distance(strings.ToLower(name), strings.ToLower(k)); away <= most && 2*away <= max(len(name), len(k)) {
			found = append(found, candidate{k, away})
		}
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.away, b.away), strings.Compare(a.name, b.name))
	})
	var names []string
	for _, c := range found[:min(n, len(found))] {
		names = append(names, c.name)
	}
	return names
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
