package names

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/lists"
)

// tool is a tool the agent called, with the parameters it gave.
type tool struct {
	name   string
	calls  int
	last   int
	params []string // in order of first use
	// more: it may have been called more often: an earlier note that did not list all tools did not list it.
	more bool
}

// maxParams bounds the parameters kept of one tool.
const maxParams = 12

func (b *builder) tool(name string) {
	t := b.tools[name]
	if t == nil {
		t = &tool{name: name, more: b.moreTools}
		b.tools[name] = t
	}
	t.calls++
	t.last = b.at
}

func (b *builder) parameter(name, key string) {
	t := b.tools[name]
	if key != "" && len(t.params) < maxParams && !slices.Contains(t.params, key) {
		t.params = append(t.params, key)
	}
}

// rankTools sorts the tools, most called first.
func rankTools(tools map[string]*tool) []*tool {
	return slices.SortedFunc(maps.Values(tools), func(x, y *tool) int {
		return cmp.Or(cmp.Compare(y.calls, x.calls), cmp.Compare(y.last, x.last), cmp.Compare(x.name, y.name))
	})
}

// String is "Edit(file_path old_string new_string)×24". Names are the model's
// own words: none begins a line of the note.
func (t *tool) String() string {
	s := solid(t.name)
	if len(t.params) > 0 {
		s += "(" + strings.Join(lists.Map(t.params, solid), " ") + ")"
	}
	s += timesMark + strconv.Itoa(t.calls)
	if t.more {
		s += orMore
	}
	return s
}

// orMore stands behind a count that may be too low.
const orMore = "+"

// solid is a name without white space.
func solid(name string) string { return strings.Join(strings.Fields(name), "_") }

// parseTools reads back a line of what String wrote.
func parseTools(line string) []tool {
	var list []tool
	line = strings.TrimPrefix(line, listSeparator)
	for line != "" {
		head, rest, found := strings.Cut(line, timesMark)
		n := clip.Digits(rest)
		calls, err := strconv.Atoi(rest[:n])
		name, params, _ := strings.Cut(strings.TrimSuffix(head, ")"), "(")
		if !found || err != nil || calls < 1 || name == "" {
			return list
		}
		rest, more := strings.CutPrefix(rest[n:], orMore)
		list = append(list, tool{name: name, calls: calls, params: strings.Fields(params), more: more})
		line = strings.TrimPrefix(rest, listSeparator)
	}
	return list
}
