package replay

import (
	"regexp"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

const (
	// verbatim is how much of a text has to be there, in characters.
	verbatim = 200
	// nameOf is how much of a command or subject has to be: enough to tell it
	// from others.
	nameOf = 80
)

// failure is a call that failed: its source or the code of its exit says so, or its result does, as notes and reports
// read it.
type failure struct {
	tried []string // lines that say what was tried; one of them has to stay
	said  []string // lines that say what went wrong; one of them has to stay
}

// failureOf is nil where a call did not fail. reads says that its result reads as one that failed.
func failureOf(c *toolCall, result *abi.Message, reads bool) *failure {
	text := result.Text()
	exit, lines := exitCode(text)
	if !result.IsError && !exit && !reads || notRun(text) || foundNothing(c, lines) {
		return nil
	}
	f := &failure{said: errorLines(lines)}
	for _, t := range c.texts {
		if alone.MatchString(t) {
			f.tried = append(f.tried, belowLastFolder(t))
		}
		for line := range strings.Lines(t) {
			if line = inFolder(strings.TrimSpace(line)); len(line) >= 4 {
				f.tried = append(f.tried, head(line, nameOf))
			}
		}
	}
	return f
}

// notRun reports whether a result says that the call did not run to its end because somebody stopped it or said no:
// that is no approach that failed.
func notRun(text string) bool {
	for _, says := range []string{"The user doesn't want to proceed with this tool use", "Sibling tool call errored",
		"Command aborted", "[Request interrupted by user"} {
		if strings.Contains(head(text, verbatim), says) {
			return true
		}
	}
	return false
}

// foundNothing reports whether a search ended with an exit code, and no word, since there is nothing to be found.
func foundNothing(c *toolCall, lines []string) bool {
	if len(lines) > 1 || len(lines) == 1 && lines[0] != "(no output)" {
		return false
	}
	return slices.ContainsFunc(c.texts, func(t string) bool {
		name, _, _ := strings.Cut(inFolder(t), " ")
		return name == "grep" || name == "rg"
	})
}

// frame matches a line of source that a message shows, with its number.
var frame = regexp.MustCompile(`^>?\s*\d+ ?[│|]`)

// errorLines are the lines that speak of what went wrong, or the first.
func errorLines(lines []string) (said []string) {
	for _, line := range lines {
		if frame.MatchString(line) {
			continue
		}
		if strings.HasPrefix(line, "× ") {
			said = append(said, head(line, verbatim))
		}
		low := strings.ToLower(line)
		for _, word := range []string{"error", "fail", "fatal", "panic", "not found", "no such", "denied", "cannot"} {
			if strings.Contains(low, word) {
				said = append(said, head(line, verbatim))
				break
			}
		}
	}
	if len(said) == 0 && len(lines) > 0 {
		said = append(said, head(lines[0], verbatim))
	}
	return said
}

// exitCode reports whether a line of its own says that a command ended with
// another code than zero, and returns the other lines.
func exitCode(text string) (failed bool, lines []string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		low := strings.Trim(strings.ToLower(line), "()[]. ")
		code, says := "", false
		for _, s := range []string{"exit code", "exit status", "exited with code", "command exited with code",
			"process exited with code"} {
			if rest, ok := strings.CutPrefix(low, s); ok {
				code, says = strings.Trim(rest, " :"), true
			}
		}
		switch {
		case says && code != "" && strings.Trim(code, "0123456789") == "":
			failed = failed || code != "0"
		case line != "":
			lines = append(lines, line)
		}
	}
	return failed, lines
}

// inFolder is a command line without the change of folder before it.
func inFolder(line string) string {
	for strings.HasPrefix(line, "cd ") {
		_, rest, ok := strings.Cut(line, "&&")
		if !ok {
			break
		}
		line = strings.TrimSpace(rest)
	}
	return line
}

// head is the first n characters.
func head(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}

// retention looks in the list for all failures that are gone from it: for what was tried, and for what went wrong.
func (r *run) retention(v *view) (failed, errors Share) {
	calls := r.log.until(r.at)
	for i := range calls {
		c := &calls[i]
		if c.failure == nil || v.holds(c) {
			continue
		}
		if len(c.failure.tried) > 0 {
			failed.add(v.says(c.failure.tried...))
		}
		if len(c.failure.said) > 0 {
			errors.add(v.says(c.failure.said...))
		}
	}
	return failed, errors
}
