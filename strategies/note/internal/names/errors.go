package names

import (
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/toolcall"
)

// failure is an error text, word for word, and what was being done.
type failure struct {
	text  string
	doing string
	about string // the file it was done to, if any
	at    int
}

// maxError is how much of one error line is kept.
const maxError = 200

// maxErrorLines is how many lines of one result are kept, of the first
// maxFound that look like errors.
const (
	maxErrorLines = 3
	maxFound      = 12
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
		if isExit(line) {
			f.failed = true
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
		f.lines = append(f.lines, clip.Cut(line, maxError, "…"))
		if len(f.lines) == maxFound {
			break
		}
	}
	f.failed = f.failed || len(f.lines) > 0
	if len(f.lines) == 0 && f.failed && first != "" && first != "(no output)" {
		f.lines = append(f.lines, clip.Cut(first, maxError, "…"))
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
	"process exited with code", "command failed with exit code"}

// isExit reports whether a line says no more than that a command failed.
func isExit(line string) bool {
	low := strings.ToLower(line)
	for _, s := range exits {
		if rest, ok := strings.CutPrefix(low, s); ok {
			rest = strings.Trim(rest, " :.")
			return rest != "" && rest != "0" && digits(rest) == len(rest)
		}
	}
	return false
}

// errorStarts and errorParts are how compilers, runtimes, shells and test
// runners begin or mark the line that matters.
var (
	errorStarts = []string{"error", "fatal", "panic:", "--- fail", "fail\t", "fail ", "traceback", "exception", "e   ",
		"command failed", "npm err", "undefined:", "assertionerror", "syntaxerror", "typeerror", "segmentation fault",
		"failed"}
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

// fail notes error lines; a text met before moves to the end.
func (b *builder) fail(lines []string, doing, about string) {
	for _, text := range lines {
		f := failure{text: text, doing: doing, about: about, at: b.at}
		b.errors = putLast(b.errors, f, maxKept, func(o failure) bool { return untimed(o.text) == untimed(text) })
	}
}

// untimed is an error line without the time it took: "--- FAIL: TestA (0.31s)".
func untimed(line string) string {
	rest := strings.TrimRight(line, ")")
	rest, ok := strings.CutSuffix(rest, "s")
	if short := strings.TrimRight(rest, "0123456789."); ok && len(short) < len(rest) {
		return strings.TrimRight(short, " (\t")
	}
	return line
}
