package digest

import (
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/strategies/ledger"
)

// Digest is what was read off the messages that go.
type Digest struct {
	names     *ledger.Ledger
	requests  []string // of persons, oldest first
	musts     []string // requirements, in order
	decisions []string // newest last
	next      []string // newest last
	todos     todos
	earlier   []string // lines of a summary that somebody else wrote
}

// Build reads the messages that go, oldest first. Names that messages which
// stay hold are not said again. Calls that stay, but whose results were
// pruned, are given as they were, with their results: what failed in them is
// kept too.
func Build(gone, stays, pruned []abi.Message) *Digest {
	d := &Digest{names: ledger.BuildPruned(gone, pruned)}
	d.names.Beside(stays)
	for i := range gone {
		d.message(&gone[i], i >= len(gone)-lately)
	}
	return d
}

// lately is how many of the last messages are asked what comes next.
const lately = 40

// Files are what tool calls read and modified, sorted, cumulative over earlier
// compactions, whole paths where they are known (FEATURES T7). What was modified
// is not listed as read.
func (d *Digest) Files() abi.Files {
	read, modified := d.names.Files()
	return abi.Files{Read: read, Modified: modified}
}

// Failures are the commands that failed and the errors that were met, oldest
// first, each once.
func (d *Digest) Failures() []ledger.Failure { return d.names.Failures() }

// Empty reports whether there is nothing to say.
func (d *Digest) Empty() bool {
	return d.names.Empty() && len(d.names.Failures()) == 0 && len(d.requests)+len(d.musts)+len(d.decisions)+len(d.next)+len(d.todos.list)+len(d.earlier) == 0
}

func (d *Digest) message(m *abi.Message, late bool) {
	switch {
	case m.Kind == abi.KindSummary:
		d.summary(m.Text())
	case m.IsPerson():
		text := m.Text()
		d.request(text)
		d.required(text)
		d.decided(text)
	case m.Role == abi.RoleAssistant:
		text := m.Text()
		d.decided(text)
		if late {
			d.comes(text)
		}
		for k := range m.ToolCalls {
			d.todos.call(&m.ToolCalls[k])
		}
	case m.Role == abi.RoleTool:
		d.todos.result(m)
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
