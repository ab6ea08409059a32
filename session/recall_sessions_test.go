package session_test

import (
	"os"
	"strings"
	"testing"

	json "github.com/goccy/go-json"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/transcript"
)

// TestSessions: what a compaction took from a real session, an agent can get
// back. The first three quarters of each session count as superseded; of a
// few messages the beginning of the longest line is asked for, which has to be in
// the answer, and the answer in its budget.
func TestSessions(t *testing.T) {
	features.Proves(t, "N9")
	opts := session.Tools{Recall: true, Counter: realCounter(t)}
	asked, found := 0, 0
	paths := corpus(t)
	for _, path := range soak.Sample(paths, 12, len(paths)) {
		stored := superseded34(t, path)
		host := &toolHost{stored: stored}
		for i := 5; i < len(stored)*3/4; i += 1 + len(stored)/3 {
			line := longestLine(stored[i].Text())
			if len(strings.Fields(line)) < 3 || stored[i].Role == abi.RoleSystem {
				continue
			}
			arguments, err := json.Marshal(map[string]any{"query": line, "limit": nil})
			if err != nil {
				t.Fatal(err)
			}
			answer, ok, err := opts.Answer(host, "recall", string(arguments))
			if !ok || err != nil || strings.HasPrefix(answer, refused) {
				t.Fatalf("%s: %q: %v, %v: %s", path, line, ok, err, answer)
			}
			if n := opts.Counter.Text(answer); n > 2000 {
				t.Errorf("%s: %q: the answer costs %d", path, line, n)
			}
			if asked++; strings.Contains(answer, line) {
				found++
			}
		}
	}
	t.Logf("%d of %d lines recalled", found, asked)
	if asked == 0 || float64(found) < 0.9*float64(asked) {
		t.Errorf("%d of %d lines recalled, nine in ten wanted", found, asked)
	}
}

// superseded34 is a session of which the first three quarters were superseded.
func superseded34(t *testing.T, path string) []session.StoredMessage {
	t.Helper()
	doc, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := transcript.Read(path, doc, transcript.Neutral)
	if err != nil {
		t.Fatal(err)
	}
	var list []session.StoredMessage
	for i, m := range s.Messages {
		stored := session.StoredMessage{Message: m}
		if i < len(s.Messages)*3/4 {
			stored.Superseded, stored.By = true, "c1"
		}
		list = append(list, stored)
	}
	return list
}

// longestLine is the beginning of a text's longest line, of up to 120 bytes.
func longestLine(text string) (longest string) {
	for line := range strings.SplitSeq(abi.Defuse(text), "\n") {
		if len(line) > len(longest) {
			longest = line
		}
	}
	if len(longest) > 120 {
		longest = strings.ToValidUTF8(longest[:120], "")
	}
	return strings.TrimSpace(longest)
}
