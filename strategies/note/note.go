package note

import (
	"context"
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/strategies/note/internal/names"
)

// Note is what was read off the superseded messages.
type Note struct {
	names     *names.Names
	requests  []string // of persons, oldest first
	musts     []string // requirements, in order
	decisions []string // newest last
	next      []string // newest last
	todos     todos
	earlier   []string // lines of a summary that somebody else wrote
}

// Build reads the superseded messages, oldest first. Names that the kept messages
// hold are not said again. Kept calls whose results were pruned are given as they
// were, with their results: what failed in them is said too.
//
// Once ctx is done it reads no further: the note is then of no use.
func Build(ctx context.Context, superseded, kept, pruned []abi.Message) *Note {
	n := &Note{names: names.Build(ctx, superseded, pruned), todos: todos{made: make(map[string]int)}}
	n.names.Beside(ctx, kept)
	for i := range superseded {
		if ctx.Err() != nil {
			break
		}
		n.message(&superseded[i], i >= len(superseded)-lately)
	}
	return n
}

// lately is how many of the last messages are asked what comes next.
const lately = 40

// Files returns what tool calls read and modified, sorted, cumulative over
// earlier compactions, whole paths where they are known. What was modified is not
// listed as read.
func (n *Note) Files() abi.Files {
	read, modified := n.names.Files()
	return abi.Files{Read: read, Modified: modified}
}

// empty reports whether there is nothing to say.
func (n *Note) empty() bool {
	return n.names.Empty() && len(n.names.Failures()) == 0 &&
		len(n.requests)+len(n.musts)+len(n.decisions)+len(n.next)+len(n.todos.list)+len(n.earlier) == 0
}

func (n *Note) message(m *abi.Message, late bool) {
	switch {
	case m.Kind == abi.KindSummary:
		n.summary(m.Text())
	case m.IsPerson():
		text := m.Text()
		n.request(text)
		n.required(text)
		n.decided(text)
	case m.Role == abi.RoleAssistant:
		text := m.Text()
		n.decided(text)
		if late {
			n.comes(text)
		}
		for k := range m.ToolCalls {
			n.todos.call(&m.ToolCalls[k])
		}
	case m.Role == abi.RoleTool:
		n.todos.result(m)
	}
}

// add appends a line, or moves it to the end; over max the oldest goes, but
// for the first where keepFirst is set.
func add(list []string, line string, max int, keepFirst bool) []string {
	if i := slices.Index(list, line); i >= 0 {
		if i == 0 && keepFirst {
			return list
		}
		list = slices.Delete(list, i, i+1)
	}
	if len(list) >= max {
		k := 0
		if keepFirst {
			k = 1
		}
		list = slices.Delete(list, k, k+1)
	}
	return append(list, line)
}
