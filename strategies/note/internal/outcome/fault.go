package outcome

import (
	"slices"
	"strings"
	"unicode"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/lower"
	"github.com/kagewasm/kagewasm/internal/toolcall"
)

// Of a call that failed it is known that a line says why, whatever its form is. So words are taken for it that a log of
// what passed has as well.

// Fault is the place of the line that says what went wrong in the output of a call that failed: the last one with a
// word for it, or else the last one, as programs say it last. It is -1 where there is none.
func Fault(lines []string) (at int, named bool) {
	head, tail := ends(lines)
	last := -1
	for i := len(lines) - 1; i >= 0; i-- {
		if i == tail-1 {
			i = min(i, head-1)
		}
		if i < 0 {
			break
		}
		line := strings.TrimSpace(lines[i])
		if line == "" || SaysExit(line) {
			continue
		}
		if NamesFault(line) {
			return i, true
		}
		if last < 0 {
			last = i
		}
	}
	return last, false
}

// NamesFault reports whether a line has a word for what went wrong, and says more than that something failed.
func NamesFault(line string) bool {
	if len(line) > maxLine || isLog(line) {
		return false
	}
	low := lower.Text(line)
	if toolcall.HasAny(low, unsaid) || strings.HasPrefix(low, "found ") || countsNone(low) {
		return false
	}
	return toolcall.HasAny(low, faults) || slices.ContainsFunc(strings.FieldsFunc(line, notInWord), isFaultName)
}

// SaysWhy reports whether a line says that something went wrong and names what, behind a colon. The last word of go
// test says that of tests, which all say themselves why.
func SaysWhy(line string) bool {
	_, why, ok := strings.Cut(line, ": ")
	return line == "FAIL" || strings.HasPrefix(line, "--- FAIL") ||
		ok && strings.TrimSpace(why) != "" && !strings.HasSuffix(line, ":") && SaysError(line) && NamesFault(line)
}

// unsaid are words of lines that say that something failed, and not why.
var unsaid = []string{"exit code", "exit status", "exited with", "make: ***", "make[", "elifecycle",
	"a complete log of this", "no errors", "without error", "aborting due to"}

// faults are words for what went wrong, in small letters.
var faults = []string{"error", "exception", "conflict", "denied", "not found", "refused", "failed", "timed out",
	"http 4", "http 5", "panic", "fatal", "could not", "couldn't", "cannot", "can't", "unable", "invalid", "missing",
	"unknown",
	"no such ", "not allowed", "forbidden", "unauthorized", "does not exist", "doesn't exist", "segmentation fault",
	"(error)", "undefined", "out of memory", "core dumped", "unexpected"}

func notInWord(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }

// isFaultName reports whether a word is the code of an error in capitals, as systems and stores have them: "ENOSPC",
// "MOVED", "WRONGTYPE".
func isFaultName(w string) bool {
	return len(w) > 3 && len(w) < 16 && w[0] == 'E' && strings.ToUpper(w) == w && clip.Digits(w[1:]) == 0 ||
		replies[w]
}
