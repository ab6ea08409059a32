package keep

import (
	"regexp"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

var (
	failureRE  = regexp.MustCompile(`(?i)^(\S*error\b|.{0,60}\berror: |fatal\b|panic: |traceback|fail(ed|ure)?\b|--- fail|.{0,80}(command not found|no such file|permission denied|timed out)|exit (code|status):? [1-9]|npm err)`)
	editRE     = regexp.MustCompile(`(?i)edit|write|create|replace|insert|patch|delete|move`)
	readRE     = regexp.MustCompile(`(?i)read|view|open|cat|show|list|ls`)
	decisionRE = regexp.MustCompile(`(?i)\b(decided?|decision|agreed|instead of|always|never|must(n't)?|don't|do not|prefer|remember|important|rule)\b`)
)

// matters reports whether a unit holds an error, a decision or a summary.
func matters(in *abi.Input, u *unit) bool {
	for _, i := range u.at {
		m := &in.Messages[i].Message
		switch {
		case m.Kind == abi.KindSummary, m.Role == abi.RoleTool && failure(m) != "":
			return true
		case (m.IsPerson() || m.Role == abi.RoleAssistant) && decisionRE.MatchString(ends(m.Text())):
			return true
		}
	}
	return false
}

// failure is the line that says that a tool failed, or nothing.
func failure(m *abi.Message) string {
	text := ends(m.Text())
	for l := range strings.Lines(text) {
		if l = strings.TrimSpace(l); len(l) < 400 && failureRE.MatchString(l) {
			return clip(l, 100)
		}
	}
	if m.IsError {
		return "failed: " + clip(text, 80)
	}
	return ""
}

// end is how much of a long text is looked at, on both sides, in bytes.
const end = 2000

// ends is the beginning and the end of a text: errors stand there, and a
// megabyte between them takes long to search.
func ends(s string) string {
	if len(s) <= 2*end {
		return s
	}
	return strings.ToValidUTF8(s[:end]+"\n"+s[len(s)-end:], "")
}

// clip is the first n characters of s, on one line.
func clip(s string, n int) string {
	if len(s) > 16*n {
		s = strings.ToValidUTF8(s[:16*n], "")
	}
	r := []rune(strings.Join(strings.Fields(s), " "))
	if len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return string(r)
}
