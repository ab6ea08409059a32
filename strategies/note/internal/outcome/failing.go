package outcome

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/lower"
)

// maxNamed is how many failed tests are named.
const maxNamed = 8

// Failing says which tests failed, where an output names more than one: who reads why one of
// them did must not take it for all. "these tests failed: TestA, TestB, TestC".
func Failing(text string) string {
	var names []string
	for line := range strings.Lines(clip.Ends(text, maxReasons)) {
		if name := failing(strings.TrimSpace(line)); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) < 2 {
		return ""
	}
	said := "these tests failed: " + strings.Join(names[:min(len(names), maxNamed)], ", ")
	if n := len(names) - maxNamed; n > 0 {
		said += fmt.Sprintf(" and %d more", n)
	}
	return said
}

// failing is the test that a line says failed, empty where it says nothing like it. Of a test of Go
// that is a case of another one the other is.
func failing(line string) string {
	name := ""
	switch {
	case strings.HasPrefix(line, "--- FAIL: "): // go test
		name, _, _ = strings.Cut(strings.TrimPrefix(line, "--- FAIL: "), " ")
		name, _, _ = strings.Cut(name, "/")
	case strings.HasPrefix(line, "FAILED ") && strings.Contains(line, "::"): // pytest
		name, _, _ = strings.Cut(strings.TrimPrefix(line, "FAILED "), " - ")
		name = name[strings.LastIndexByte(name, '/')+1:]
	case strings.HasPrefix(line, "test ") && strings.HasSuffix(line, " ... FAILED"): // cargo test
		name = strings.TrimSuffix(strings.TrimPrefix(line, "test "), " ... FAILED")
	case strings.HasPrefix(line, "FAIL: ") && strings.HasSuffix(line, ")"): // unittest
		name, _, _ = strings.Cut(strings.TrimPrefix(line, "FAIL: "), " (")
	default:
		for _, mark := range []string{"✕ ", "✗ ", "✘ "} { // jest, vitest, mocha
			if rest, ok := strings.CutPrefix(line, mark); ok {
				name, _, _ = strings.Cut(rest, " (")
			}
		}
	}
	return clip.Words(clip.OneLine(name), maxName)
}

// maxName is how much of the name of a test is told, in characters.
const maxName = 60

// unrun are how shells and programs begin to say that a check never ran: it was asked for in words that it does not
// know, with a configuration that it cannot read, or in a folder that is not there.
var unrun = []string{"error: unknown flag", "error: unknown shorthand flag", "error: unknown option",
	"error: unrecognized argument", "error: no such option", "error: can't load config", "unknown flag:",
	"unknown shorthand flag:", "flag provided but not defined", "usage: ", "(eval):cd:", "cd: "}

// NeverRan reports whether an output says that the check never ran: then it did not fail.
func NeverRan(text string) bool {
	for line := range strings.Lines(clip.Head(text, maxReasons)) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		} else if _, ok := exitLine(line); ok {
			continue
		}
		line = lower.Text(strings.TrimPrefix(line, "bash: "))
		return startsAny(line, unrun...)
	}
	return false
}
