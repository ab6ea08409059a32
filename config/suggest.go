package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/internal/lists"
)

// late is a part of a message that takes long to find, and is found where the message
// is listed.
type late func() string

func (l late) String() string { return l() }

// suggest is the name a person may have meant, as the end of a message; it
// begins with a colon, and lists the known names where none is near.
func suggest(name string, known []string) string {
	known = slices.Sorted(slices.Values(known))
	best, least := "", max(2, len(name)/3)+1
	for _, k := range known {
		if d := distance(strings.ToLower(name), strings.ToLower(k)); d < least {
			best, least = k, d
		}
	}
	switch {
	case best != "":
		return fmt.Sprintf(": did you mean %q?", best)
	case len(known) == 0:
		return ": there are none"
	}
	return ": known are " + strings.Join(known, ", ")
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

// places are where a field may belong that stands in the wrong place, by the list
// of the fields there.
var places = [][2]string{
	{"agent", "agents.NAME"}, {"compaction", "compaction"}, {"summarize", "compaction.summarize"},
	{"prune", "compaction.prune"}, {"recent", "compaction.recent"}, {"model", "models.NAME"},
	{"plugin", "plugins.NAME"}, {"file", "the top of the file"},
}

// meant is the field a person may have wanted, here or elsewhere.
func meant(f *field, name string) string {
	for _, p := range places {
		there := field{fields: blocks()[p[0]]}
		if c := there.child(name); p[0] != f.Of && c != nil && !c.Refuse {
			return ": it belongs under " + p[1]
		}
	}
	known := lists.Filter(f.fields, func(c *field) bool { return !c.Refuse })
	return suggest(name, lists.Map(known, func(c *field) string { return c.Name }))
}
