package outcome

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/lower"
	"github.com/kagewasm/kagewasm/internal/set"
	"github.com/kagewasm/kagewasm/internal/toolcall"
	"github.com/kagewasm/kagewasm/strategies/note/internal/action"
)

// What is left of an output that was cut can say that something failed, and not that all passed: only the end of it,
// where test runners say how all ended, and lines that were chosen with those that say so, can.

// hides reports whether a script cuts its output so that a failure may not be shown in the text that is left.
func hides(list []toolcall.Command, text string) bool {
	for i := 1; i < len(list); i++ {
		if list[i-1].Then == "|" && hidesFailures(list[i].Words, text) {
			return true
		}
	}
	return false
}

// hidesFailures reports whether a program that is given an output leaves something out of it where failures are told.
func hidesFailures(words []string, text string) bool {
	if len(words) == 0 {
		return false
	}
	switch args := strings.Join(words[1:], " "); words[0] {
	case "head":
		return strings.Contains(args, "c") || strings.Count(strings.TrimSpace(text), "\n")+1 >= count(args)
	case "grep", "egrep", "rg":
		low := lower.Text(args)
		return !inverts(words[1:]) && !strings.Contains(low, "fail") && !strings.Contains(low, "error")
	case "wc", "awk", "sed", "cut", "jq":
		return true
	}
	return false
}

// defaultLines is how many lines head shows where nothing is said.
const defaultLines = 10

// count is the number in the options of a program, "-n 20" or "-20".
func count(args string) int {
	i := strings.IndexAny(args, "0123456789")
	if i < 0 {
		return defaultLines
	}
	n, err := strconv.Atoi(args[i : i+clip.Digits(args[i:])])
	if err != nil {
		return 0
	}
	return n
}

// inverts reports whether a search shows what it does not find.
func inverts(args []string) bool {
	for _, w := range args {
		if w == "--invert-match" || len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.Contains(w, "v") {
			return true
		}
	}
	return false
}

// silent are checks that put out nothing where all is well, by the words that they begin with.
var silent = set.Of("go build", "go vet", "gcc", "g++", "clang", "clang++", "cc", "javac", "tsc", "tsgo",
	"npx tsc", "npx tsgo", "rustc", "eslint", "npx eslint", "shellcheck", "flake8", "staticcheck", "gofmt -l",
	"bash -n", "node --check")

// passOn are programs that put out the beginning or the end of what they are given, or all of it.
var passOn = set.Of("head", "tail", "cat")

// keptSilent reports whether a script runs nothing but a check that puts out nothing where all is well, and that put
// out nothing: all of it is shown, or its beginning or its end, by a program that would have ended well all the same.
func keptSilent(a *action.Action, text string) bool {
	if strings.TrimSpace(text) != "" || strings.Contains(strings.ReplaceAll(a.Script, "2>&1", ""), ">") ||
		strings.Contains(a.Script, "timeout") { // which ends it without a word
		return false
	}
	checked, piped := false, false
	for i := range a.Commands {
		c := &a.Commands[i]
		switch {
		case piped && isOne(c, passOn), !piped && c.SetsScene():
		case piped || checked || !isSilent(c.Words):
			return false
		default:
			checked = true
		}
		piped = c.Then == "|"
	}
	return checked
}

// editedInSilence reports whether a script does nothing but edit files by programs that put out nothing where all is
// well, and say so at its end: "sed -i ... && echo done". All that it put out is what it said.
func editedInSilence(a *action.Action, text string) bool {
	var said []string
	edits := false
	for i := range a.Commands {
		switch c := &a.Commands[i]; {
		case c.Then == "|" || c.Then == "||" || c.Then == "&" || len(c.Writes)+len(c.Appends) > 0:
			return false
		case len(c.Words) > 0 && c.Words[0] == "echo":
			said = append(said, strings.Join(c.Words[1:], " "))
		case isEditor(c.Words):
			edits = true
		case !c.SetsScene():
			return false
		}
	}
	return edits && len(said) > 0 && !strings.Contains(a.Script, "2>") &&
		strings.TrimSpace(text) == strings.Join(said, "\n")
}

// isEditor reports whether a command edits files in place by a pattern.
func isEditor(words []string) bool {
	return len(words) > 1 && (words[0] == "sed" || words[0] == "perl" || words[0] == "gsed") &&
		slices.ContainsFunc(words[1:], func(w string) bool {
			return strings.HasPrefix(w, "-i") || strings.HasPrefix(w, "-pi") || strings.HasPrefix(w, "-Ei")
		})
}

// isSilent reports whether a command is a check that puts out nothing where all is well.
func isSilent(words []string) bool {
	two := strings.Join(words[:min(2, len(words))], " ")
	if two == "go test" {
		return slices.Contains(words, "-c") // it compiles alone
	}
	return silent[two] || silent[words[0]]
}

// unformatted is the first file that a script which lists those that are not formatted put out, empty where it lists
// none: it ends with the code 0 all the same.
func unformatted(list []toolcall.Command, text string) string {
	lists := func(c toolcall.Command) bool {
		return len(c.Words) > 1 && (c.Words[0] == "gofmt" || c.Words[0] == "goimports") && c.Words[1] == "-l" && c.Then != "|"
	}
	if !slices.ContainsFunc(list, lists) {
		return ""
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); strings.HasSuffix(line, ".go") && !strings.ContainsAny(line, " \t:") {
			return line
		}
	}
	return ""
}

// Broke reports whether a script ran and failed in one of its commands.
func Broke(text string, o Outcome) bool {
	return (o.Failed || o.Told) && !o.Stopped && !Rejected(text) && !NeverRan(text)
}

// FailsCheck reports whether an output says that a test or a build failed, as test runners and compilers do.
func FailsCheck(text string) bool {
	for line := range strings.Lines(clip.Ends(text, maxReasons)) {
		if line = strings.TrimSpace(line); line != "" && (failing(line) != "" || inSource(line) || line == "FAIL" ||
			startsAny(line, "FAIL\t", "make: ***", "make[", "npm ERR!", "FAILED ", "FAILURES", "error[", "error TS") ||
			strings.Contains(line, "): error TS")) {
			return true
		}
	}
	return false
}

func startsAny(line string, starts ...string) bool {
	return slices.ContainsFunc(starts, func(s string) bool { return strings.HasPrefix(line, s) })
}
