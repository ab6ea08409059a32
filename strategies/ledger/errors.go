package ledger

import (
	"strings"
)

// failure is an error text, word for word, and what was being done.
type failure struct {
	text  string
	doing string
	at    int
	count int
}

// maxError is how much of one error line is kept.
const maxError = 200

// maxErrorLines is how many lines of one result are kept.
const maxErrorLines = 3

// errorLines finds the lines that say what went wrong: those that look like
// it, or the first of a result that its source marks as failed.
func errorLines(text string, failed bool) []string {
	var lines []string
	first := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if first == "" {
			first = line
		}
		if looksLikeError(line) {
			lines = append(lines, oneLine(line, maxError))
			if len(lines) == maxErrorLines {
				break
			}
		}
	}
	if len(lines) == 0 && failed && first != "" {
		lines = append(lines, oneLine(first, maxError))
	}
	return lines
}

// errorStarts and errorParts are how compilers, runtimes, shells and test
// runners begin or mark the line that matters.
var (
	errorStarts = []string{"error", "fatal", "panic:", "--- fail", "fail\t", "fail ", "traceback", "exception", "e   ", "command failed",
		"exit code", "exit status", "npm err", "undefined:", "assertionerror", "syntaxerror", "typeerror", "segmentation fault", "failed"}
	errorParts = []string{": error:", ": error ", " error: ", "error:", "exception:", ": undefined: ", ": cannot ", ": command not found", ": no such file",
		": permission denied", "connection refused", "timed out", "exit code: ", "exit status "}
)

func looksLikeError(line string) bool {
	if len(line) > 2000 {
		return false
	}
	// Source code and listings talk about errors all the time; a line that
	// starts with a line number, a comment or a bracket is one of those.
	head := line[:min(len(line), 48)]
	if c := head[0]; c >= '0' && c <= '9' || strings.HasPrefix(head, "//") || strings.IndexByte("#*-+{}()[]|`\"'<>", c) >= 0 && !strings.HasPrefix(head, "--- FAIL") {
		return false
	}
	low := strings.ToLower(line[:min(len(line), 400)])
	if strings.HasPrefix(low, "error") && strings.HasSuffix(low, "0") {
		return false // "errors: 0"
	}
	for _, s := range errorStarts {
		if strings.HasPrefix(low, s) {
			return true
		}
	}
	for _, s := range errorParts {
		if strings.Contains(low, s) {
			return true
		}
	}
	return false
}

// fail notes error lines; a text met before moves to the end and counts up.
func (b *builder) fail(lines []string, doing string) {
	for _, text := range lines {
		f := failure{text: text, doing: doing, at: b.at, count: 1}
		for i := range b.errors {
			if b.errors[i].text == text {
				f.count += b.errors[i].count
				b.errors = append(b.errors[:i], b.errors[i+1:]...)
				break
			}
		}
		b.errors = append(b.errors, f)
		if len(b.errors) > maxKept {
			b.errors = b.errors[1:]
		}
	}
}
