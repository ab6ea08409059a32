package names

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/strategies/note/internal/action"
	"github.com/kagewasm/kagewasm/strategies/note/internal/outcome"
)

// Failure is a call that failed, word for word.
type Failure struct {
	// Text is the command behind "$ ", or below "$" where it has several lines, or the
	// name of the tool and what it was about, a line break, and what came of it. Of the
	// command and of each text of an error it holds the first 200 characters, and the
	// rest of the word there.
	Text string
	// Passed: the same command passed later. Settled: it did, or what holds all that it checked.
	Passed, Settled bool
	// Changed: it was to change a file, and a later call did.
	Changed bool

	in     string // the message that says so; empty where an earlier note does
	normal string // the command as it is compared with others
	dir    string // the folder that it ran in, where it says so
	key    string // see known
	file   string // that a tool was to change
}

// In is the id of the message that says so, empty where an earlier note does.
func (f *Failure) In() string { return f.in }

// Command reports whether what failed was a command.
func (f *Failure) Command() bool {
	return strings.HasPrefix(f.Text, commandMark) || strings.HasPrefix(f.Text, scriptMark)
}

// Lines above the failures in a summary, commands and others. Each failure
// stands below between two lines of three backquotes.
const (
	HeadFailed = "Failed, newest last:"
	HeadErrors = "Errors, newest last:"
)

// PassedLine stands below a failure in a note whose command passed later, SettledLine below one of a check where
// another one that holds it did, and ChangedLine below a change to a file that was refused where a later one was made.
const (
	PassedLine  = "Passed later."
	SettledLine = "A check that holds it passed later."
	ChangedLine = "A later call changed this file."
)

// Became is the line that says what became of the failure, empty where that is not known.
func (f *Failure) Became() string {
	switch {
	case f.Passed:
		return PassedLine
	case f.Settled:
		return SettledLine
	case f.Changed:
		return ChangedLine
	}
	return ""
}

// became reads that line back. It reports whether it is one.
func (f *Failure) became(line string) bool {
	switch line {
	case PassedLine:
		f.Passed, f.Settled = true, true
	case SettledLine:
		f.Passed, f.Settled = false, true
	case ChangedLine:
		f.Changed = true
	default:
		return false
	}
	return true
}

const (
	commandMark = "$ "
	// scriptMark stands before a command of several lines: where it ends cannot be
	// read back.
	scriptMark = "$\n"
	// maxVerbatim is how much is kept of a command and of an error, in runes.
	maxVerbatim = 200
	// maxErrorLines is how many lines of one result are kept.
	maxErrorLines = 3
	// maxFailures is how many failures are remembered: what failed before must not be tried again. How many are told is
	// a matter of room.
	maxFailures = 500
)

// Failures returns the last calls that failed, oldest first. The same failure is
// listed once.
func (l *Names) Failures() []Failure { return l.failures }

// Failed is how many different failures there were, those that are not listed among
// them.
func (l *Names) Failed() int { return l.failed }

// failure notes a call that failed with this output.
func (b *builder) failure(a *action.Action, m *abi.Message, text string, o outcome.Outcome) {
	command := clip.Whole(strings.TrimSpace(a.Script), maxVerbatim)
	fail := Failure{Text: commandMark + command}
	if strings.Contains(command, "\n") {
		fail.Text = scriptMark + command
	}
	if a.Script == "" {
		fail.Text = strings.TrimSpace(a.Tool + " " + clip.Cut(cmp.Or(a.Path(), address(a.About)), maxDoing, "…"))
		fail.file = changedFile(a)
	} else {
		fail.normal, fail.dir = a.Normal(), a.Dir()
	}
	ran := a.Script != ""
	fail.Text += "\n" + b.harness.Known.Quote(text, m.IsError, ran, o,
		func() string { return saidBy(text, m.IsError, o, ran) })
	fail.in = m.ID
	b.remember(fail, a)
}

// address is what a call was about, where that is an address in one word.
func address(about string) string {
	if strings.Contains(about, "://") && !strings.ContainsAny(about, " \t\n") {
		return about
	}
	return ""
}

// remember puts a failure of a call last, also where it was met before.
func (b *builder) remember(f Failure, a *action.Action) {
	f.Text = strings.ReplaceAll(f.Text, blockMark, "'''")
	f.key = f.known()
	b.met[f.key] = true
	if a.OnlyChecks() {
		b.checks[f.key] = unpassed{a.Checks(), a.Checks()}
	}
	b.failures = putLast(b.failures, f, maxFailures, func(o Failure) bool { return o.key == f.key })
}

// toChange is the file that a failure is about by its first line, "Edit a.go", where that is a call to change it.
func toChange(line string) string {
	tool, file, _ := strings.Cut(line, " ")
	arguments, err := json.Marshal(map[string]string{"path": file})
	if err != nil {
		return ""
	}
	return changedFile(action.Of(&abi.ToolCall{Name: tool, Arguments: string(arguments)}))
}

// changedFile is the file that a tool is to change, empty where it is to change none.
func changedFile(a *action.Action) string {
	if a.Kind != action.Changes {
		return ""
	}
	return a.Path()
}

// changed notes that a call changed its files: changes to them that were refused before are no longer open.
func changed(list []Failure, a *action.Action, before func(f *Failure) bool) {
	for k := range a.Files {
		file := &a.Files[k]
		for i := range list {
			f := &list[i]
			f.Changed = f.Changed || f.file != "" && file.Use != action.Read && before(f) && action.SameFile(f.file, file.Path)
		}
	}
}

// unpassed are checks of a failure: left those that have not passed since, open those that nothing settled.
type unpassed struct{ left, open []action.Check }

// worked notes that a command passed: the same one that failed before it is no
// longer broken, nor checks that are among those that passed.
func (b *builder) worked(a *action.Action, text string) {
	if len(b.failures) == 0 {
		return
	}
	settle(b.failures, b.checks, a, b.harness.Below(a, text), func(*Failure) bool { return true })
}

// settle notes of failures that a command passed after them, and with it what ran below it.
func settle(
	list []Failure, open map[string]unpassed, a *action.Action, below []action.Check, before func(f *Failure) bool,
) {
	normal, checks := a.Normal(), a.Checks()
	held := slices.Concat(checks, below)
	for i := range list {
		f := &list[i]
		if f.Passed || !before(f) {
			continue
		}
		c, only := open[f.key]
		if only {
			c.left, c.open = action.Unpassed(c.left, checks), action.Unsettled(c.open, held)
			open[f.key] = c
		}
		f.Passed = only && len(c.left) == 0 || !only && f.normal == normal && normal != "" &&
			action.SameFolder(f.dir, a.Dir())
		f.Settled = f.Settled || f.Passed || only && len(c.open) == 0
	}
}

// Settle reads the messages of a session that stay, which may say that what failed passed later: behind the message
// that says that it failed.
func (l *Names) Settle(ctx context.Context, msgs []abi.Message, gone []bool, harness outcome.Harness) {
	if !slices.ContainsFunc(l.failures, func(f Failure) bool { return !f.Passed && !f.Changed }) {
		return
	}
	calls, met := make(map[string]*action.Action), map[string]bool{"": true}
	before := func(f *Failure) bool { return met[f.in] }
	for i := range msgs {
		m := &msgs[i]
		if !gone[i] && ctx.Err() == nil {
			for k := range m.ToolCalls {
				calls[m.ToolCalls[k].ID] = harness.Does(&m.ToolCalls[k])
			}
			l.settle(m, calls[m.ToolCallID], before, harness)
		}
		met[m.ID] = true
	}
}

// settle takes what a message says of a call, where it says anything.
func (l *Names) settle(m *abi.Message, a *action.Action, before func(f *Failure) bool, harness outcome.Harness) {
	if m.Role != abi.RoleTool || a == nil || a.Script == "" && a.Kind != action.Changes {
		return
	}
	if a.Answered(m.Text()); !harness.Of(m, a).Passed {
		return
	}
	changed(l.failures, a, before)
	if a.Script != "" {
		settle(l.failures, l.checks, a, harness.Below(a, m.Text()), before)
	}
}
