package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/near"
)

// late is a part of a message that takes long to make. It is made only where the message is printed.
type late func() string

func (l late) String() string { return l() }

// suggest returns the end of a message about an unknown name, from its colon on: the nearest known
// name, or all of them where none is near.
func suggest(name string, known []string) string {
	if best := near.To(name, known, 1); best != nil {
		return fmt.Sprintf(": did you mean %q?", best[0])
	}
	if len(known) == 0 {
		return ": there are none"
	}
	return ": known are " + strings.Join(slices.Sorted(slices.Values(known)), ", ")
}

// places are the blocks in which a misplaced field may belong: the name of the list of their fields,
// and how a message calls them.
var places = [][2]string{
	{"agent", "agents.NAME"}, {"compaction", "compaction"}, {"summarize", "compaction.summarize"},
	{"prune", "compaction.prune"}, {"recent", "compaction.recent"}, {"model", "models.NAME"},
	{"plugin", "plugins.NAME"}, {"file", "the top of the file"},
}

// meant returns the end of a message about an unknown field: the field that a person may have wanted,
// here or elsewhere.
func meant(f *field, name string) string {
	for _, c := range f.fields {
		if strings.HasPrefix(c.Name, name+".") { // the known name has a dot: NAME.x
			return fmt.Sprintf(": did you mean %q?", c.Name)
		}
	}
	for _, p := range places {
		there := field{fields: blocks()[p[0]]}
		if c := there.child(name); p[0] != f.Of && c != nil && !c.Refuse {
			return ": it belongs under " + p[1]
		}
	}
	known := lists.Filter(f.fields, func(c *field) bool { return !c.Refuse })
	return suggest(name, lists.Map(known, func(c *field) string { return c.Name }))
}
