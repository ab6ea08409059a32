package work

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/strategies/note/internal/action"
	"github.com/kagewasm/kagewasm/strategies/note/internal/outcome"
)

// Work is what was done between two messages of a person.
type Work struct {
	// Name is what a file is called where a call is told alone. Default its name without a folder.
	Name func(file string) string
	// Report is what another agent reported, in short. Default its first line.
	Report func(text string) string
	// Use is what its calls were for, of those too whose result is not there.
	Use Use

	harness  outcome.Harness
	patches  action.Patches
	open     map[string]*action.Action
	files    []*file      // in the order of their last change
	did      []deed       // what changed something else, in order
	prepared []string     // commands that are told in short
	checks   []*check     // in the order of their last run
	forge    *forgeChecks // as they were listed last
	failed   []failed     // calls that were to change something and failed
	answers  []string     // of the person
	// objections are what the person said to calls that they did not allow.
	objections []string
	// cancelled are the calls that went and that a harness did not run, as one beside them failed. What runs later, in a
	// message that stays too, is taken from them.
	cancelled *[]string
	agents    []string // what was handed to other agents
	reports   []string // what they reported
	views     []string // of changes that others made, or the agent before: differences, commits, requests
	looks     int      // reads and searches, and these
	others    int      // other commands
	tries     *tries
	before    map[string]*action.Action // the last call to each tool that changed something
}

// check is a test, a build or the like, or several that ran together, and how often it ended how.
type check struct {
	command  string         // as it was told last
	parts    []action.Check // what it is
	left     []action.Check // those that have not passed since it failed
	where    string         // that it passed in, where it passed in something else
	failures int            // since it last passed
	before   bool           // it passed before it failed
	stale    bool           // files were changed since it last ran
	last     end
}

// end is how a check ended.
type end uint8

const (
	unknown end = iota
	passed
	broken
	aborted
)

// Where a check passed that did not run by itself.
const (
	inAnother = " in another one"
	inHook    = " in the hook of a commit"
	later     = " later"
)

// changedSince stands behind a check that passed where files were changed after it.
const changedSince = " (files were changed after it)"

// failed is a call that failed.
type failed struct {
	what  string // the call as it is told
	key   string // as it is compared
	path  string // the file that it was to change, if any
	said  string // what came back
	times int
	other bool // what came back before was something else
}

// New returns the work of a turn that has not begun.
func New(h outcome.Harness) *Work {
	return &Work{Name: path.Base, Report: firstLine, harness: h, open: make(map[string]*action.Action),
		before: make(map[string]*action.Action), tries: &tries{made: make(map[string]bool)}, cancelled: new([]string)}
}

// Next returns the work of the turn that follows.
func (w *Work) Next() *Work {
	next := New(w.harness)
	next.before, next.tries, next.Name, next.Report = w.before, w.tries, w.Name, w.Report
	return next
}

// Beside returns the work of messages that stay in the same turn. What was tried out, and what did not run yet, is
// known to both.
func (w *Work) Beside() *Work {
	beside := New(w.harness)
	beside.tries, beside.cancelled, beside.Name, beside.Report = w.tries, w.cancelled, w.Name, w.Report
	return beside
}

// Call takes a call.
func (w *Work) Call(c *abi.ToolCall) {
	a := w.harness.Does(c)
	w.open[c.ID], w.Use = a, w.Use.Or(useOf(a))
}

// firstLine is the first line of a text, in short.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return clip.Line(line, maxAnswer)
}

// toldInstead stands before the words of a person in the result of a call that they
// did not allow.
const toldInstead = "To tell you how to proceed, the user said:\n"

// Result takes what a call came to, and returns the call as it is told alone.
func (w *Work) Result(m *abi.Message) Step {
	text := m.Text()
	if _, words, ok := strings.Cut(text, toldInstead); ok {
		w.objections = append(w.objections, clip.Line(words, maxTold))
	}
	a, o := answered(w, m, text)
	if a != nil && o.Dropped {
		if name := nameOf(a, w.Name); name != "" {
			*w.cancelled = append(*w.cancelled, name)
		}
	}
	if a == nil || o.Dropped {
		return Step{}
	}
	text = output(a, text)
	alone := w.step(a, text, o)
	switch a.Kind {
	case action.Runs:
		looks := w.looks
		if w.script(a, text, o, &alone.Check); w.looks > looks && a.ShowsChanges() {
			w.views = append(w.views, alone.Text)
		}
	case action.Asks:
		w.answers = append(w.answers, clip.Line(text, maxTold))
	case action.Delegates:
		w.agents = append(w.agents, about(a)+resumed(text))
		if line := reported(w, a, text, o); line != "" {
			w.reports = append(w.reports, line)
		}
	case action.Silent:
		if strings.HasPrefix(text, approved) {
			w.answers = append(w.answers, approval(text))
		}
	case action.Looks:
		w.looks++
	case action.Changes:
		w.changed(a, text, o)
	default:
		w.does(a, text, o)
	}
	return alone
}

// Stays takes what a call that stays came to: it is told alone, as far as it changes how things stand.
func (w *Work) Stays(m *abi.Message) Step {
	text := m.Text()
	if a := w.open[m.ToolCallID]; a != nil && a.Kind == action.Looks && !outcome.Rejected(text) {
		delete(w.open, m.ToolCallID)
		return Step{}
	}
	a, o := answered(w, m, text)
	if a == nil || o.Dropped {
		return Step{}
	}
	text = output(a, text)
	step := w.step(a, text, o)
	if a.Kind == action.Delegates {
		step.Report = reported(w, a, text, o)
	}
	return step
}

// reported is what another agent reported, as it is told; empty where it reported nothing.
func reported(w *Work, a *action.Action, text string, o outcome.Outcome) string {
	if said := w.Report(text); said != "" && o.Passed {
		return Reported + about(a) + ": " + said
	}
	return ""
}

// answered is the call that a result answers, and how it ended; nil where it is not known.
func answered(w *Work, m *abi.Message, text string) (*action.Action, outcome.Outcome) {
	a := w.open[m.ToolCallID]
	if a == nil {
		return nil, outcome.Outcome{}
	}
	delete(w.open, m.ToolCallID)
	a.Answered(text)
	w.patches.Take(a, text)
	o := w.harness.Of(m, a)
	if len(*w.cancelled) > 0 {
		name := nameOf(a, w.Name)
		*w.cancelled = slices.DeleteFunc(*w.cancelled, func(other string) bool { return other == name })
	}
	if o.Dropped {
		return a, o
	}
	if o.Passed {
		a.Made()
	}
	w.tries.take(a.Steps)
	return a, o
}

// does takes a call to a tool that does something, of which no more is known.
func (w *Work) does(a *action.Action, text string, o outcome.Outcome) {
	what := told(a, w.before[a.Tool])
	if o.Failed || o.Told {
		w.fails(failed{what: what, key: what, said: said(text)})
		return
	}
	w.settled(what, "")
	w.did = append(w.did, deed{text: Called + what + found(text, a.Args)})
	w.before[a.Tool] = a
}

// fails notes that a call failed, again where the same did before.
func (w *Work) fails(f failed) {
	f.times = 1
	if i := slices.IndexFunc(w.failed, func(o failed) bool { return o.key == f.key }); i >= 0 {
		f.times += w.failed[i].times
		f.other = w.failed[i].other || w.failed[i].said != f.said
		w.failed = slices.Delete(w.failed, i, i+1)
	}
	w.failed = append(w.failed, f)
}

// settled forgets that a call failed, now that the same ended otherwise, or that its
// file was changed.
func (w *Work) settled(key, path string) {
	w.failed = slices.DeleteFunc(w.failed, func(f failed) bool { return f.key == key || path != "" && f.path == path })
}

// said is what came back of a call that failed, in short.
func said(text string) string {
	if outcome.Rejected(text) {
		return "the person rejected it"
	}
	return clip.Line(text, maxAnswer)
}

// checked takes checks that ran together, by how they are told, and how they ended. Ran are those that they say ran
// below them.
func (w *Work) checked(name string, parts, ran []action.Check, o outcome.Outcome) {
	c := &check{parts: parts}
	if i := slices.IndexFunc(w.checks, func(c *check) bool { return action.SameChecks(c.parts, parts) }); i >= 0 {
		c = w.checks[i]
		w.checks = slices.Delete(w.checks, i, i+1)
	}
	if c.last == passed && !o.Passed {
		c.failures, c.before = 0, true
	}
	switch c.command, c.left, c.where, c.stale = name, parts, "", false; {
	case o.Passed:
		c.last = passed
		for _, before := range w.checks {
			before.settle(slices.Concat(parts, ran), inAnother)
		}
	case o.Failed:
		c.last, c.failures = broken, c.failures+1
	case o.Stopped:
		c.last = aborted
	default:
		c.last = unknown
	}
	w.checks = append(w.checks, c)
}

// PassedLater takes checks that passed after that in messages that stay.
func PassedLater(w *Work, checks []action.Check) {
	for _, c := range w.checks {
		c.settle(checks, later)
	}
}

// settle takes checks that passed, and where: one that failed and is among them passed as well.
func (c *check) settle(parts []action.Check, where string) {
	if c.left = action.Unsettled(c.left, parts); len(c.left) == 0 && c.last != passed && c.failures > 0 {
		c.last, c.where, c.stale = passed, where, false
	}
}

// Beginnings of the lines that tell what was done, and what stands before what came
// of it.
const (
	Called    = "Called: "
	Committed = "Committed: "
	Ran       = "Ran: "
	Failed    = "Failed: "
	Besides   = "Besides: "
	Viewed    = "Looked at: "
	Reported  = "Reported by the agent for "
	// ChangedFiles begins the line on the files that were changed.
	ChangedFiles = "Changed: "
	Result       = " → "
)

const (
	maxAnswer  = 200  // of what came back, in characters
	maxTold    = 1200 // of what a person answered, in characters
	maxCommand = 90   // of a command line, in characters
	maxListed  = 8    // entries of a line
	maxFailed  = 4    // calls that failed
	maxChecks  = 4    // checks of which it is known how they ended
	maxReports = 4    // of other agents
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
	add(ChangedFiles, changedFiles(w.files, name), ", ")
	did := w.deeds()
	if n := len(w.did) - len(did); n > 0 {
		lines = append(lines, plural(n, "other call or command", "other calls and commands")+" that changed something")
	}
	for _, d := range did {
		lines = append(lines, d.String())
	}
	add("Also ran: ", folded(w.prepared), ", ")
	add("Checks: ", w.told(), "; ")
	add(onForge, w.forge.list(), ", ")
	if n := len(w.failed) - maxFailed; n > 0 {
		lines = append(lines, plural(n, "call or command", "calls and commands")+" that failed before these")
	}
	for _, f := range w.failed[max(0, len(w.failed)-maxFailed):] {
		lines = append(lines, Failed+f.String()+": "+f.said)
	}
	add("Not run, as a call beside it failed: ", *w.cancelled, ", ")
	add("No result in the log: ", w.Unanswered(), ", ")
	add("The person did not allow a call, and said: ", w.objections, " / ")
	add("The person answered: ", w.answers, " / ")
	add("Handed to other agents: ", w.agents, "; ")
	lines = append(lines, w.reports[max(0, len(w.reports)-maxReports):]...)
	looks := w.looks
	if len(w.files)+len(w.did)+len(w.failed) == 0 { // who changed something looked at that
		add(Viewed, w.views, ", ")
		looks -= min(len(w.views), maxListed)
	}
	if s := besides(looks, w.others); s != "" {
		lines = append(lines, s)
	}
	return lists.Map(lines, clip.OneLine) // names are a model's own words: none begins a line
}

// Unanswered are the calls that were to do something and of which the log has no result.
func (w *Work) Unanswered() (list []string) {
	for _, a := range w.open {
		if name := nameOf(a, w.Name); name != "" {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// nameOf is how a call is told of which no more is known than that it was to do something; empty where it was to do
// nothing but look.
func nameOf(a *action.Action, name func(file string) string) string {
	switch a.Kind {
	case action.Runs:
		if slices.ContainsFunc(a.Steps, func(s action.Step) bool { return s.Kind != action.Shows }) {
			return whole(a)
		}
	case action.Changes:
		return a.Tool + " " + name(a.Path())
	case action.Does:
		return a.Tool + listed(a)
	}
	return ""
}

// Use says what calls were for: some looked, some handed work to other agents, some were to do more, or may have been.
type Use struct{ Looked, Delegated, Acted bool }

// Or is the use of more calls.
func (u Use) Or(more Use) Use {
	return Use{u.Looked || more.Looked, u.Delegated || more.Delegated, u.Acted || more.Acted}
}

// useOf says what a call is for.
func useOf(a *action.Action) Use {
	switch a.Kind {
	case action.Looks:
		return Use{Looked: true}
	case action.Delegates:
		return Use{Delegated: true}
	case action.Asks, action.Silent:
		return Use{}
	case action.Runs:
		looks := a.OnlyLooks()
		return Use{Looked: looks, Acted: !looks}
	}
	return Use{Acted: true}
}

// deeds are what changed something, in order: commits before others, the newest first
// where there are too many.
func (w *Work) deeds() []deed {
	told, room := make([]bool, len(w.did)), maxListed
	for _, commits := range []bool{true, false} {
		for i := len(w.did) - 1; i >= 0 && room > 0; i-- {
			if strings.HasPrefix(w.did[i].String(), Committed) == commits {
				told[i], room = true, room-1
			}
		}
	}
	var list []deed
	for i, d := range w.did {
		if told[i] {
			list = append(list, d)
		}
	}
	return list
}

// told are the last checks of which it is known how they ended, those that failed before the others, and the last of
// those of which it is not. What is left out is counted: a list that ends without that reads as a whole one.
func (w *Work) told() (list []string) {
	known := lists.Filter(w.checks, (*check).told)
	others := lists.Filter(w.checks, func(c *check) bool { return !c.told() })
	told := lastChecks(known)
	if untold := lists.Filter(known, func(c *check) bool { return !slices.Contains(told, c) }); len(untold) > 0 {
		list = append(list, othersTold(untold))
	}
	for _, c := range told {
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

// othersTold counts checks, and says how they ended where all passed.
func othersTold(checks []*check) string {
	s := plural(len(checks), "other one", "other ones")
	if slices.ContainsFunc(checks, func(c *check) bool { return c.last != passed }) {
		return s
	}
	s += " passed"
	failed := len(lists.Filter(checks, func(c *check) bool { return c.failures > 0 }))
	switch {
	case failed == 0:
		return s
	case failed == len(checks):
		return s + " after failing"
	}
	return fmt.Sprintf("%s, %d of them after failing", s, failed)
}

// lastChecks are maxChecks of some checks in their order: the last that failed, then the last of the others.
func lastChecks(all []*check) []*check {
	chosen := make(map[*check]bool, maxChecks)
	for _, failed := range []bool{true, false} {
		for _, c := range slices.Backward(all) {
			if len(chosen) < maxChecks && (c.last == broken) == failed {
				chosen[c] = true
			}
		}
	}
	return lists.Filter(all, func(c *check) bool { return chosen[c] })
}

// besides counts what is not told.
func besides(looks, others int) string {
	var parts []string
	if looks > 0 {
		parts = append(parts, plural(looks, aLook, someLooks))
	}
	if others > 0 {
		parts = append(parts, plural(others, anOther, someOthers))
	}
	if len(parts) == 0 {
		return ""
	}
	return Besides + strings.Join(parts, ", ")
}

// What is counted of what is not told.
const (
	aLook, someLooks    = "read or search", "reads and searches"
	anOther, someOthers = "other command", "other commands"
)

// Together is one line that counts what two lines of one turn do that begin with [Besides].
func Together(one, other string) string {
	looks, others := 0, 0
	for _, line := range []string{one, other} {
		for _, part := range strings.Split(strings.TrimPrefix(line, Besides), ", ") {
			count, what, _ := strings.Cut(part, " ")
			n, err := strconv.Atoi(count)
			switch {
			case err != nil || n < 0:
			case what == aLook || what == someLooks:
				looks += n
			case what == anOther || what == someOthers:
				others += n
			}
		}
	}
	return besides(looks, others)
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func (f *failed) String() string {
	if f.other {
		return fmt.Sprintf("%s (%d times, not always so, at last)", f.what, f.times)
	}
	if f.times > 1 {
		return fmt.Sprintf("%s (%d times)", f.what, f.times)
	}
	return f.what
}

// told reports whether it is known how a check ended once, since it last passed.
func (c *check) told() bool { return c.last != unknown || c.failures > 0 }

func (c *check) String() string {
	s := "`" + c.command + "` "
	times := "once"
	if c.failures > 1 {
		times = fmt.Sprintf("%d times", c.failures)
	}
	switch {
	case c.last == unknown && c.failures > 0:
		return s + "failed " + times + ", then ran again, how that ended is not known"
	case c.last == aborted && c.failures > 0:
		return s + "failed " + times + ", then was aborted"
	case c.last == aborted:
		return s + "was aborted"
	case c.last == passed:
		if c.failures > 0 {
			s += "failed " + times + ", then "
		}
		if s += "passed" + c.where; c.stale {
			s += changedSince
		}
		return s
	case c.last == broken && c.before && c.failures > 1:
		return s + "passed, then failed " + times
	case c.last == broken && c.before:
		return s + "passed, then failed"
	case c.last == broken && c.failures > 1:
		return s + "failed " + times
	case c.last == broken:
		return s + "failed"
	}
	return s + "ran, how it ended is not known"
}
