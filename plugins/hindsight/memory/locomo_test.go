package memory_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/internal/soak"
)

// TestHindsightConversation: of conversations over months, session after
// session, what answers a question is among the first ten lines, named by the
// ids of its messages.
func TestHindsightConversation(t *testing.T) {
	features.Proves(t, "K28")
	atLeast := func(t *testing.T, want float64, paths ...string) {
		recall := recallOfTen(t, paths)
		if t.Logf("recall of the first ten: %.3f", recall); recall < want {
			t.Errorf("%.2f wanted", want)
		}
	}
	t.Run("own", func(t *testing.T) { atLeast(t, 0.95, "../testdata/conversation.json") })
	t.Run("public", func(t *testing.T) {
		atLeast(t, 0.75, shared.Glob(t, "data", "locomo", "*.json")[:soak.Count(1, 2, 2)]...)
	})
}

// recallOfTen is the mean share of the evidence for a question that is among
// the first ten lines.
func recallOfTen(t *testing.T, paths []string) float64 {
	questions, recall := 0.0, 0.0
	for _, path := range paths {
		doc, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var c struct {
			Turns []struct {
				ID, Date, Speaker, Text string
				Session                 int
			}
			Questions []struct {
				Question string
				Evidence []string
			}
		}
		if err := json.Unmarshal(doc, &c); err != nil {
			t.Fatal(err)
		}
		n := newNative(t)
		var session []abi.Message
		for i, turn := range c.Turns {
			m := say(turn.ID, abi.RoleUser, turn.Text)
			m.Name, m.Timestamp = turn.Speaker, turn.Date
			session = append(session, m)
			if i+1 == len(c.Turns) || c.Turns[i+1].Session != turn.Session {
				n.call(abi.HookPreCompact, fmt.Sprint("session_", turn.Session), 0, session...)
				session = nil
			}
		}
		n.knobs["recall_max_tokens"] = 100_000
		n.change = func(in *abi.Input) { in.Budget.SummaryTokens = 100_000 }
		id := regexp.MustCompile(`(?m)^- \[[^]]* (D\d+:\d+)\]`)
		for _, q := range soak.Sample(c.Questions, 60, len(c.Questions)) {
			if len(q.Evidence) == 0 {
				continue
			}
			out, _ := n.call(abi.HookPreCompact, "asking", 1000, say("Q", abi.RoleUser, q.Question))
			var first []string
			for _, m := range id.FindAllStringSubmatch(out.Inject, 10) {
				first = append(first, m[1])
			}
			found := 0.0
			for _, e := range q.Evidence {
				if slices.Contains(first, e) {
					found++
				}
			}
			questions, recall = questions+1, recall+found/float64(len(q.Evidence))
		}
	}
	return recall / questions
}
