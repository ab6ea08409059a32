// Package outcome says how a tool call ended, by what its result says: it failed, it
// passed, or neither can be told. What cannot be told is left open, not guessed.
package outcome

import (
	"slices"
	"strings"
	"unicode"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/set"
	"github.com/kagewasm/kagewasm/internal/toolcall"
)

// Outcome is how a call ended.
type Outcome struct {
	// Failed: the harness says so, or the text of the result does.
	Failed bool
	// Told: it is the harness that says so, with a mark or the code of an exit.
	Told bool
	// Passed: the call did what it was to do: of a command the harness says so, or a
	// test runner does; of another tool the result is no refusal.
	Passed bool
	// Lines are those that say what went wrong, each cut at the end of a word
	// after 200 characters.
	Lines []string
}

// Harness is what is known of the harness that ran the calls.
type Harness struct {
	// Marks: it says of commands that failed that they did. What it does not mark
	// then ended well.
	Marks bool
	// GoOn says from time to time whether to go on.
	GoOn func() bool
}

// Marks reports whether results say of commands that failed that they did.
func Marks(msgs []abi.Message) bool {
	commands := make(map[string]bool) // calls, by id
	return slices.ContainsFunc(msgs, func(m abi.Message) bool {
		for i := range m.ToolCalls {
			toolcall.EachString(m.ToolCalls[i].Arguments, func(key, _ string) {
				commands[m.ToolCalls[i].ID] = commands[m.ToolCalls[i].ID] || toolcall.IsCommandKey(key)
			})
		}
		if m.Role != abi.RoleTool || !commands[m.ToolCallID] {
			return false
		}
		text := m.Text()
		return m.IsError || exit(clip.Head(text, maxLook)) != unknown || exit(clip.Tail(text, maxLook)) != unknown
	})
}

// maxLook is how much of the ends of a text is searched for the code of an exit,
// in bytes.
const maxLook = 400

// Of reads how the call ended that m answers. The command is the script that the
// call ran, or empty.
func (h Harness) Of(m *abi.Message, command string) Outcome {
	text := m.Text()
	shallow := command == "" || viewers[toolcall.Program(toolcall.CommandLine(command))]
	f := findings{marked: m.IsError, failed: m.IsError, shallow: shallow}
	f.read(text, h.GoOn)
	code := exit(clip.Head(text, maxLook))
	if shallow && command != "" && exitLine(unwrap(strings.TrimSpace(text))) == bad {
		return Outcome{} // a search that found nothing
	}
	if code == unknown {
		code = exit(clip.Tail(text, maxLook))
	}
	o := Outcome{Failed: f.failed, Told: m.IsError || code == bad, Lines: f.lines}
	alone := !masks(command)
	if command != "" && h.Marks && alone && !o.Told {
		o.Failed = false // it ended with the code 0: its text only talks of errors
	}
	if command == "" && hasError(text) {
		o.Failed = true
	}
	switch {
	case o.Failed || o.Told || saysNo(text, command):
	case command == "":
		o.Passed = true
	case code == good, h.Marks && alone:
		o.Passed = true
	default:
		o.Passed = saysPassed(text)
	}
	return o
}

// masks reports whether a script may end with another code than that of what it runs:
// behind a pipe, or where something else follows whatever came of it.
func masks(script string) bool {
	script = strings.TrimRight(strings.ReplaceAll(script, "\\\n", " "), " ;\n")
	return strings.ContainsAny(script, "|;\n") || strings.HasSuffix(script, "&")
}

// refusals are how the tools of editors and services say that they did not do it,
// at the beginning of a result.
var refusals = []string{"not found", "no match", "did not", "could not", "couldn't", "cannot", "can't", "failed", "error",
	"unable", "not unique", "multiple occurrences", "has not been read", "denied", "rejected", "refused", "has introduced",
	"no changes", "invalid", "doesn't want", "no replacement", "does not exist", "no such file", "timed out", "not allowed",
	"interrupted", "no files were", "must be ", "nothing was"}

// saysNo reports whether the result of a call that ran no command begins with a
// refusal.
func saysNo(text, command string) bool {
	if command != "" {
		return false
	}
	low := strings.ToLower(strings.TrimSpace(clip.Head(text, 300)))
	line, _, _ := strings.Cut(low, "\n")
	words := strings.FieldsFunc(line, unicode.IsSpace)
	if len(words) > 0 && done[words[0]] || strings.Contains(line, "successfully") || strings.Contains(line, "has been updated") {
		return false
	}
	words = slices.DeleteFunc(words, func(w string) bool { return strings.ContainsAny(w[:len(w)-1], "/.'\"`_") })
	return toolcall.HasAny(strings.Join(words, " "), refusals)
}

// hasError reports whether a result of JSON says in a field of its own that the call
// failed.
func hasError(text string) bool {
	low := strings.ToLower(strings.TrimSpace(clip.Head(text, 300)))
	if !strings.HasPrefix(low, "{") && !strings.HasPrefix(low, "[") {
		return false
	}
	bare := strings.Join(strings.Fields(low), "")
	for _, none := range []string{`"error":null`, `"error":false`, `"error":""`, `"error":{}`} {
		bare = strings.ReplaceAll(bare, none, "")
	}
	return toolcall.HasAny(bare, []string{`"error":`, `"success":false`, `"ok":false`})
}

// done begin the results of calls that did what they were to do.
var done = set.Of("created", "updated", "added", "saved", "wrote", "applied", "sent", "deleted", "removed", "edited", "replaced",
	"done", "ok", "success")

// passes are how test runners and builds say that all went well.
var passes = []string{"test result: ok", "build success", "all tests passed", "all checks passed", "no issues found"}

// nones are what there is none of where all went well, behind a 0.
var nones = []string{"fail", "failed", "failures", "errors", "issues"}

// saysPassed reports whether the end of a text says that all went well.
func saysPassed(text string) bool {
	passed := false
	for line := range strings.Lines(clip.Tail(text, 4000)) {
		line = strings.TrimSpace(line)
		low := strings.ToLower(line)
		none := countsNone(low)
		switch {
		case strings.Contains(low, "fail") && !none, toolcall.IsFailure(line), strings.Contains(low, "no tests to run"):
			return false
		case none, line == "PASS", line == "OK", strings.HasPrefix(line, "ok  \t"), strings.HasPrefix(line, "ok \t"),
			strings.HasPrefix(line, "OK ("), toolcall.HasAny(low, passes), countPassed(low):
			passed = true
		}
	}
	return passed
}

// countsNone reports whether a line says that nothing failed: "0 failed", and not "10
// failed".
func countsNone(line string) bool {
	none := false
	for _, what := range nones {
		for rest := line; ; {
			before, after, ok := strings.Cut(rest, " "+what)
			if !ok {
				break
			}
			number := before[strings.LastIndexAny(before, " ,:(")+1:]
			if digits(number) == len(number) && number != "" {
				if number != "0" {
					return false
				}
				none = true
			}
			rest = after
		}
	}
	return none
}

// countPassed reports whether a line says how many passed: "12 passed in 3.1s".
func countPassed(line string) bool {
	before, _, ok := strings.Cut(line, " passed")
	return ok && before != "" && before[len(before)-1] >= '0' && before[len(before)-1] <= '9'
}

// viewers show text, in which errors may be talked about.
var viewers = set.Of(strings.Split("cat,head,tail,less,sed,awk,grep,rg,ag,find,fd,ls,tree,bat,jq,wc,echo,git show,"+
	"git diff,git log,git blame,git grep", ",")...)

const (
	// maxError is how much of a line is kept, in characters, and the rest of a word.
	maxError = 200
	// maxFound is how many lines of one result are kept.
	maxFound = 12
	// maxPiece is how much is read between two looks at whether to go on, in bytes.
	maxPiece = 128 << 10
)

// maxHead is how many lines of a text to read may be a harness's own, among
// them one that says how the call ended.
const maxHead = 8

// findings are what a tool's output says about how the call ended.
type findings struct {
	// marked: its source says that it failed; failed: that, or its text says so.
	marked, failed bool
	// shallow: the output is text to read, such as a file; only its first line
	// says how the call ended.
	shallow bool
	lines   []string
}

// read finds the lines that say what went wrong: those that look like it, or
// the first of a result that its source marks as failed.
func (f *findings) read(text string, goOn func() bool) {
	first, heading, seen, looked := "", "", 0, 0
	for line := range strings.Lines(text) {
		if looked += len(line); looked > maxPiece {
			if looked = 0; !goOn() {
				return
			}
		}
		line = unwrap(strings.TrimSpace(line))
		if line == "" {
			continue
		}
		if c := exitLine(line); c != unknown {
			f.failed = f.failed || c == bad
			continue
		}
		if heading != "" { // "ERROR:" and the text below
			line, heading = heading+" "+line, ""
		}
		seen++
		if first == "" {
			first = line
		} else if f.shallow && seen <= maxHead {
			continue
		} else if f.shallow {
			break
		}
		if !looksLikeError(line) {
			continue
		}
		if len(line) < 12 && strings.HasSuffix(line, ":") {
			heading, first = line, ""
			continue
		}
		f.lines = append(f.lines, clip.Whole(line, maxError))
		if len(f.lines) == maxFound {
			break
		}
	}
	f.failed = f.failed || len(f.lines) > 0
	if len(f.lines) == 0 && f.failed && first != "" && first != "(no output)" {
		f.lines = append(f.lines, clip.Whole(first, maxError))
	}
}

// unwrap takes a line out of the one tag that a harness puts around it.
func unwrap(line string) string {
	tag, rest, ok := strings.Cut(line, ">")
	if !ok || len(tag) < 2 || tag[0] != '<' || strings.ContainsAny(tag, " /\"") {
		return line
	}
	if inner, ok := strings.CutSuffix(rest, "</"+tag[1:]+">"); ok {
		return strings.TrimSpace(inner)
	}
	return line
}

// exits are what harnesses write before the exit code of a command.
var exits = []string{"exit code", "exit status", "exited with code", "command exited with code",
	"process exited with code", "command failed with exit code", "command finished with exit code",
	"the command completed with exit code"}

// code is what the exit of a command says.
type code uint8

const (
	unknown code = iota
	good
	bad
)

// exit finds the line that says with which code a command ended.
func exit(text string) code {
	for line := range strings.Lines(text) {
		if c := exitLine(unwrap(strings.TrimSpace(line))); c != unknown {
			return c
		}
	}
	return unknown
}

// exitLine reads a line that says no more than with which code a command ended.
func exitLine(line string) code {
	low := strings.Trim(strings.ToLower(line), "[]")
	for _, s := range exits {
		if rest, ok := strings.CutPrefix(low, s); ok {
			rest = strings.Trim(rest, " :.")
			switch {
			case rest == "0":
				return good
			case rest != "" && digits(rest) == len(rest):
				return bad
			}
		}
	}
	return unknown
}

// digits is how many digits s begins with.
func digits(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }

// errorStarts and errorParts are how compilers, runtimes, shells and test
// runners begin or mark the line that matters.
var (
	errorStarts = []string{"error", "fatal", "panic:", "--- fail", "fail\t", "fail ", "traceback", "exception", "e   ",
		"command failed", "npm err", "undefined:", "assertionerror", "syntaxerror", "typeerror", "segmentation fault",
		"failed", "make: ***", "make["}
	errorParts = []string{": error:", ": error ", " error: ", "error:", "exception:", ": undefined: ", ": cannot ",
		": command not found", ": no such file", ": permission denied", "connection refused", "timed out"}
)

func looksLikeError(line string) bool {
	if len(line) > 2000 {
		return false
	}
	// Source code and listings talk about errors all the time; a line that
	// starts with a line number, a comment or a bracket is one of those.
	head := line[:min(len(line), 48)]
	if strings.HasPrefix(head, "//") ||
		strings.IndexByte("0123456789#*-+{}()[]|`\"'<>", head[0]) >= 0 && !strings.HasPrefix(head, "--- FAIL") {
		return false
	}
	low := strings.ToLower(line[:min(len(line), 400)])
	if strings.HasPrefix(low, "error") &&
		(strings.HasSuffix(low, "0") || strings.HasSuffix(low, "none") || strings.HasSuffix(low, "(none)")) {
		return false // "errors: 0"
	}
	begins := func(s string) bool { return strings.HasPrefix(low, s) }
	return slices.ContainsFunc(errorStarts, begins) || toolcall.HasAny(low, errorParts)
}
