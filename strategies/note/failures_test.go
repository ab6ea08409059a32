package note_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/strategies/note"
	"github.com/kagewasm/kagewasm/tokens"
)

// failure is a failed call as somebody who reads the session by hand would
// note it: the command, and the line that says what is wrong.
type failure struct{ command, line string }

var (
	exitRE  = regexp.MustCompile(`(?i)^(exit (code|status):? [1-9]|command (failed|exited) with (exit )?code [1-9]|\[?process exited with code [1-9])`)
	errorRE = regexp.MustCompile(`^(Error|ERROR|error|fatal|panic|Traceback|npm ERR!|npm error|[A-Za-z]*Error|bash)\b.*:`)
)

// failuresIn lists the calls of a session that failed: those that their source
// marks, and commands of which a line says so.
func failuresIn(msgs []abi.Message) []failure {
	calls := make(map[string]string)
	var list []failure
	for i := range msgs {
		m := &msgs[i]
		for _, c := range m.ToolCalls {
			calls[c.ID] = commandIn(c.Arguments)
		}
		if m.Role != abi.RoleTool {
			continue
		}
		f, text := failure{command: calls[m.ToolCallID]}, m.Text()
		delete(calls, m.ToolCallID)
		exited := false
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			exited = exited || exitRE.MatchString(line)
			if f.line == "" && errorRE.MatchString(line) && (f.command != "" && !viewerRE.MatchString(f.command) || m.IsError) {
				f.line = line
			}
		}
		if m.IsError && f.line == "" {
			f.line, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
		}
		if m.IsError || exited && f.command != "" || f.line != "" {
			list = append(list, f)
		}
	}
	return list
}

var viewerRE = regexp.MustCompile(`(^|&& *|; *)(cat|sed|head|tail|grep|rg|git (show|diff|log|blame)|nl|awk|find|ls)\b`)

func commandIn(args string) string {
	var doc struct{ Command, Cmd any }
	if json.Unmarshal([]byte(args), &doc) != nil {
		return ""
	}
	if s, ok := doc.Command.(string); ok {
		return s
	}
	s, _ := doc.Cmd.(string)
	return s
}

func first(s string, n int) string {
	r := []rune(s)
	return string(r[:min(n, len(r))])
}

// TestFailedApproaches: of the last 20 calls that failed among
// the messages that go, the commands and the texts of the errors are in the
// note, the first 200 characters of each word for word, in a note of 12% of the
// tokens. Of sessions under 20,000 tokens that is too little for 20 of them.
func TestFailedApproaches(t *testing.T) {
	features.Proves(t, "I10", "I4")
	counter, err := tokens.New(tokens.O200k, tokens.Options{})
	if err != nil {
		t.Fatal(err)
	}
	all := 0
	sessions := shared.Sessions(t)
	for _, path := range soak.Sample(sessions, 10, len(sessions)) {
		msgs := shared.Messages(t, path)
		total := 0
		for i := range msgs {
			total += counter.Message(&msgs[i])
		}
		if total < 20_000 {
			continue
		}
		list := failuresIn(msgs)
		list = list[max(0, len(list)-20):]
		all += len(list)
		for _, summary := range []string{"", "What a model wrote."} {
			t.Run(fmt.Sprintf("%s, summary %q", filepath.Base(path), summary), func(t *testing.T) {
				text := note.Build(context.Background(), msgs, nil, nil).Render(note.Options{Summary: summary, Budget: total * 12 / 100, Count: counter.Text})
				for _, f := range list {
					if command, line := first(f.command, 200), first(f.line, 200); !strings.Contains(text, command) || !strings.Contains(text, line) {
						t.Errorf("%s: lost %q or %q", filepath.Base(path), command, line)
					}
				}
			})
		}
	}
	if t.Logf("%d failures", all); all == 0 {
		t.Error("no session has a failure: nothing was shown")
	}
}
