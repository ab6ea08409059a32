package names

import (
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/toolcall"
)

// Failure is a call that failed, word for word.
type Failure struct {
	// Text is the command behind "$ ", or the name of the tool and what it was
	// about, a line break, and what came of it. Of the command and of each text
	// of an error it holds the first 200 characters.
	Text string
	// Then is the command that worked where this one failed, or "" where none
	// was met.
	Then string

	program, line string
}

// Command reports whether what failed was a command.
func (f *Failure) Command() bool { return strings.HasPrefix(f.Text, commandMark) }

// Lines above the failures in a summary, commands and others. Each failure
// stands below between two lines of three backquotes.
const (
	HeadFailed = "Failed, newest last:"
	HeadErrors = "Errors, newest last:"
)

// ThenLine begins the line below a failure in a summary that says what worked
// instead; see [Failure.Then].
const ThenLine = "Worked instead: "

const (
	commandMark = "$ "
	// maxVerbatim is how much is kept of a command and of an error, in runes.
	maxVerbatim = 200
	// maxFailures is how many failures are remembered: twice as many as must be
	// kept, since what one reader calls a failure is none to another.
	maxFailures = 40
)

// Failures returns the last calls that failed, oldest first. The same failure is
// listed once.
func (l *Names) Failures() []Failure { return l.failures }

// failure notes a call that failed with this output.
func (b *builder) failure(c *call, text string, f *findings) {
	fail := Failure{Text: commandMark + clip.Chars(c.command, maxVerbatim)}
	if c.command == "" {
		fail.Text = strings.TrimSpace(c.name + " " + clip.Cut(c.subject, maxDoing, "…"))
	} else {
		fail.line = toolcall.CommandLine(c.command)
		fail.program = toolcall.Program(fail.line)
	}
	said := ""
	if f.marked {
		said = clip.Chars(strings.TrimSpace(text), maxVerbatim)
	}
	for _, line := range worst(f.lines) {
		if !strings.Contains(said, strings.TrimSuffix(line, "…")) {
			said = strings.TrimPrefix(said+"\n"+clip.Chars(line, maxVerbatim), "\n")
		}
	}
	fail.Text += "\n" + said
	b.remember(fail)
}

// worst are the lines that say most about what went wrong, in order: those that
// begin with it, before those that mention it.
func worst(lines []string) []string {
	if len(lines) <= maxErrorLines {
		return lines
	}
	var first, others []int
	for i, line := range lines {
		if toolcall.IsFailure(line) && !strings.HasPrefix(line, "--- ") {
			first = append(first, i)
		} else {
			others = append(others, i)
		}
	}
	shown := slices.Sorted(slices.Values(append(first, others...)[:maxErrorLines]))
	return lists.Map(shown, func(i int) string { return lines[i] })
}

// remember puts a failure last, also where it was met before.
func (b *builder) remember(f Failure) {
	f.Text = strings.ReplaceAll(f.Text, blockMark, "'''")
	b.failures = putLast(b.failures, f, maxFailures, func(o Failure) bool { return o.Text == f.Text })
}

// worked notes that a command did what it was to do: it replaces those of the
// same program that failed before it.
func (b *builder) worked(command string) {
	line := toolcall.CommandLine(command)
	name := toolcall.Program(line)
	for i := range b.failures {
		if f := &b.failures[i]; f.program == name && f.Then == "" && name != "" {
			f.Then = clip.Cut(line, maxDoing, "…")
		}
	}
}
