package work

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/toolcall"
	"github.com/kagewasm/kagewasm/strategies/note/internal/outcome"
)

// Work is what was done between two messages of a person.
type Work struct {
	harness outcome.Harness
	open    map[string]*call
	files   []*file          // in the order of their first change
	did     []string         // what changed something else, in order
	checks  []*check         // in the order of their last run
	failed  []failed         // calls that were to change something and failed
	answers []string         // of the person, asked by a tool
	agents  []string         // what was handed to other agents
	looks   int              // reads and searches
	others  int              // other commands
	before  map[string][]arg // of the last call to each tool that changed something
}

// file is a file that was changed.
type file struct {
	path             string
	created, deleted bool
	edits            int
}

// check is a test, a build or the like, and how often it ended how.
type check struct {
	command  string
	failures int // since it last passed
	last     end
}

// end is how a check ended.
type end uint8

const (
	unknown end = iota
	passed
	broken
)

// failed is a call that failed, and what came back.
type failed struct{ call, said string }

// New returns the work of a turn that has not begun.
func New(h outcome.Harness) *Work {
	return &Work{harness: h, open: make(map[string]*call), before: make(map[string][]arg)}
}

// Next returns the work of the turn that follows.
func (w *Work) Next() *Work {
	next := New(w.harness)
	next.before = w.before
	return next
}

// Busy reports whether anything was done.
func (w *Work) Busy() bool {
	return len(w.files)+len(w.did)+len(w.checks)+len(w.failed)+len(w.answers)+len(w.agents)+w.looks+w.others > 0
}

// Call takes a call.
func (w *Work) Call(c *abi.ToolCall) { w.open[c.ID] = read(c) }

// Result takes what a call came to, and returns the call as it is told alone.
func (w *Work) Result(m *abi.Message) Step {
	c := w.open[m.ToolCallID]
	if c == nil {
		return Step{}
	}
	delete(w.open, m.ToolCallID)
	return w.ended(c, m)
}

// Ran takes a command that was run without a call, and what came of it, and returns it
// as it is told alone.
func (w *Work) Ran(command string, m *abi.Message) Step {
	return w.ended(&call{name: "shell", command: command}, m)
}

func (w *Work) ended(c *call, m *abi.Message) Step {
	o := w.harness.Of(m, c.command)
	text := m.Text()
	switch {
	case c.command != "":
		w.command(c.command, text, o)
	case asks[c.plain()]:
		w.answers = append(w.answers, clip.Line(text, maxTold))
	case agents[c.plain()]:
		w.agents = append(w.agents, c.about())
	case c.is(silent):
	case c.looks():
		w.looks++
	case len(c.changes) > 0:
		w.changed(c, o)
	case o.Failed || o.Told:
		f := failed{c.told(w.before[c.name]), clip.Line(text, maxAnswer)}
		w.settled(f.call)
		w.failed = append(w.failed, f)
	default:
		w.settled(c.told(w.before[c.name]))
		w.did = append(w.did, Called+c.told(w.before[c.name])+found(text, c.args))
		w.before[c.name] = c.args
	}
	return c.step(text, o)
}

// settled forgets that a call or a command failed, now that the same was tried again.
func (w *Work) settled(call string) {
	w.failed = slices.DeleteFunc(w.failed, func(f failed) bool { return f.call == call })
}

func (w *Work) changed(c *call, o outcome.Outcome) {
	if !o.Passed {
		return
	}
	for _, ch := range c.changes {
		i := slices.IndexFunc(w.files, func(f *file) bool { return f.path == ch.path })
		if i < 0 {
			i, w.files = len(w.files), append(w.files, &file{path: ch.path})
		}
		f := w.files[i]
		f.created = f.created || ch.created
		f.deleted = ch.deleted
		f.edits += ch.edits
	}
}

// command takes a script and how it ended.
func (w *Work) command(script, text string, o outcome.Outcome) {
	did, checked := false, false
	for s := range segments(script) {
		did = did || acts.begins(s)
		checked = checked || checks.begins(s)
	}
	switch {
	case did && (o.Told || o.Failed):
		w.settled(quoted(script))
		w.failed = append(w.failed, failed{quoted(script), clip.Line(first(o.Lines, text), maxAnswer)})
	case did:
		w.settled(quoted(script))
		w.did = append(w.did, effect(script, text, o.Passed))
	case checked:
		w.checked(script, o)
	default:
		w.others++
	}
}

func (w *Work) checked(script string, o outcome.Outcome) {
	name := clip.Words(toolcall.Normal(script), maxCommand)
	c := &check{command: name}
	if i := slices.IndexFunc(w.checks, func(c *check) bool { return c.command == name }); i >= 0 {
		c = w.checks[i]
		w.checks = slices.Delete(w.checks, i, i+1)
	}
	switch {
	case o.Passed:
		c.last = passed
	case o.Failed:
		if c.last == passed {
			c.failures = 0
		}
		c.last, c.failures = broken, c.failures+1
	default:
		c.last = unknown
	}
	w.checks = append(w.checks, c)
}

// Beginnings of the lines that tell what was done, and what stands before what came
// of it.
const (
	Called    = "Called: "
	Committed = "Committed: "
	Ran       = "Ran: "
	Failed    = "Failed: "
	Result    = " → "
)

const (
	maxAnswer  = 200  // of what came back, in characters
	maxTold    = 1200 // of what a person answered, in characters
	maxCommand = 90   // of a command line, in characters
	maxListed  = 8    // entries of a line
	maxFailed  = 4    // calls that failed
	maxChecks  = 4    // checks of which it is known how they ended
)

// Lines say what was done, a line for each kind of thing, what changed something
// first. Name says what a file is called.
func (w *Work) Lines(name func(path string) string) []string {
	var lines []string
	add := func(head string, entries []string, sep string) {
		if len(entries) == 0 {
			return
		}
		more := ""
		if n := len(entries) - maxListed; n > 0 {
			entries, more = entries[n:], fmt.Sprintf("%d before, then ", n)
		}
		lines = append(lines, head+more+strings.Join(entries, sep))
	}
	add("Changed: ", lists.Map(w.files, func(f *file) string { return f.text(name(f.path)) }), ", ")
	if n := len(w.did) - maxListed; n > 0 {
		lines = append(lines, plural(n, "call or command", "calls and commands")+" that changed something before these")
	}
	lines = append(lines, w.did[max(0, len(w.did)-maxListed):]...)
	add("Checks: ", w.told(), "; ")
	if n := len(w.failed) - maxFailed; n > 0 {
		lines = append(lines, plural(n, "call or command", "calls and commands")+" that failed before these")
	}
	for _, f := range w.failed[max(0, len(w.failed)-maxFailed):] {
		lines = append(lines, Failed+f.call+": "+f.said)
	}
	add("The person answered: ", w.answers, " / ")
	add("Handed to other agents: ", w.agents, "; ")
	if s := w.rest(); s != "" {
		lines = append(lines, s)
	}
	return lists.Map(lines, clip.OneLine) // names are a model's own words: none begins a line
}

// told are the last checks of which it is known how they ended, and the last of the
// others.
func (w *Work) told() (list []string) {
	known := lists.Filter(w.checks, func(c *check) bool { return c.last != unknown })
	others := lists.Filter(w.checks, func(c *check) bool { return c.last == unknown })
	for _, c := range known[max(0, len(known)-maxChecks):] {
		list = append(list, c.String())
	}
	if n := len(others); n > 0 {
		s := others[n-1].String()
		if n > 1 {
			s = fmt.Sprintf("%d more ran, how they ended is not known, the last `%s`", n, others[n-1].command)
		}
		list = append(list, s)
	}
	return list
}

// rest counts what is not told.
func (w *Work) rest() string {
	var parts []string
	if w.looks > 0 {
		parts = append(parts, plural(w.looks, "read or search", "reads and searches"))
	}
	if w.others > 0 {
		parts = append(parts, plural(w.others, "other command", "other commands"))
	}
	if len(parts) == 0 {
		return ""
	}
	return "Besides: " + strings.Join(parts, ", ")
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func (f *file) text(name string) string {
	var how []string
	if f.created {
		how = append(how, "written")
	}
	if f.edits > 1 {
		how = append(how, fmt.Sprintf("edited ×%d", f.edits))
	} else if f.edits == 1 {
		how = append(how, "edited")
	}
	if f.deleted {
		how = append(how, "deleted")
	}
	return name + " (" + strings.Join(how, ", ") + ")"
}

func (c *check) String() string {
	s := "`" + c.command + "` "
	times := "once"
	if c.failures > 1 {
		times = fmt.Sprintf("%d times", c.failures)
	}
	switch {
	case c.last == passed && c.failures > 0:
		return s + "failed " + times + ", then passed"
	case c.last == passed:
		return s + "passed"
	case c.last == broken && c.failures > 1:
		return s + "failed " + times
	case c.last == broken:
		return s + "failed"
	}
	return s + "ran, how it ended is not known"
}
