package kagewasm_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/internal/survival"
	"github.com/kagewasm/kagewasm/tokens"
)

// TestN8DefaultsSurvival: with defaults, and 12% or 2.4% of the tokens as the
// target, the note and the newest messages together keep this share of the
// names that the agents went on to use. Where what is pinned and the current
// turn alone are over the target, the result is larger by them.
func TestN8DefaultsSurvival(t *testing.T) {
	counter, err := tokens.New(tokens.O200k, tokens.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := kagewasm.New(kagewasm.Options{Counter: counter})
	if err != nil {
		t.Fatal(err)
	}
	window := 1 << 30
	for _, tc := range []struct{ part, least float64 }{{0.12, 0.90}, {0.024, 0.78}} {
		sum, n := 0.0, 0
		for _, path := range shared.Sessions(t) {
			msgs := sessionFile(t, path)
			for i := range msgs {
				if msgs[i].Kind != abi.KindSummary {
					continue
				}
				need := survival.Needed(msgs, i)
				if len(need) < survival.Few {
					continue
				}
				total := 0
				for k := range i {
					total += counter.Message(&msgs[k])
				}
				target := int(tc.part * float64(total))
				result, err := c.Compact(t.Context(), kagewasm.Request{Messages: msgs[:i], Force: true, Target: &target, Session: abi.Session{ContextWindow: &window}})
				if err != nil {
					t.Fatal(err)
				}
				var texts []string
				for k := range result.Messages {
					texts = append(texts, survival.Text(&result.Messages[k]))
				}
				kept := survival.Held(strings.Join(texts, "\n"), need)
				t.Logf("%-46s at %3d: %6d tokens, target %5d, %5d left (%s): survival %.3f", filepath.Base(path), i, total, target, result.Report.TokensAfter, result.Report.ReasonCode, kept)
				sum, n = sum+kept, n+1
			}
		}
		if n == 0 {
			continue // said in the log
		}
		t.Logf("at %.1f%%: mean survival %.4f", 100*tc.part, sum/float64(n))
		if sum/float64(n) < tc.least {
			t.Errorf("at %.1f%%: survival %.4f, at least %.2f wanted", 100*tc.part, sum/float64(n), tc.least)
		}
	}
}

func sessionFile(t *testing.T, path string) []abi.Message {
	t.Helper()
	doc, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var msgs []abi.Message
	for line := range bytes.Lines(doc) {
		var m abi.Message
		if len(bytes.TrimSpace(line)) == 0 || bytes.HasPrefix(line, []byte(`{"tools"`)) {
			continue
		}
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		msgs = append(msgs, m)
	}
	return msgs
}
