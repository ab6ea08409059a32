package transcript_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/transcript"
)

// recordedRequests are the request bodies among the recorded exchanges, each
// in the format of its provider: the latest to each provider in a recording,
// which says again what those before it said.
func recordedRequests(tb testing.TB) []sample {
	tb.Helper()
	var all []sample
	for _, p := range shared.Glob(tb, "data", "formats", "*__*.json") {
		data, err := os.ReadFile(p)
		if err != nil {
			tb.Fatal(err)
		}
		var exchanges []struct {
			URI     string
			Request json.RawMessage
		}
		if err := json.Unmarshal(data, &exchanges); err != nil {
			tb.Fatal(err)
		}
		latest := make(map[transcript.Format]sample)
		for i, e := range exchanges {
			for part, format := range map[string]transcript.Format{
				"/v1/chat/completions": transcript.OpenAI, "/v1/responses": transcript.OpenAIResponses,
				"/v1/messages": transcript.Anthropic, "enerateContent": transcript.Gemini,
			} {
				if strings.Contains(e.URI, part) {
					latest[format] = sample{fmt.Sprintf("%s#%d", filepath.Base(p), i), e.Request, format}
				}
			}
		}
		for _, s := range latest {
			all = append(all, s)
		}
	}
	return all
}

// The shared data holds some sessions both as their program wrote them and in
// neutral form, converted by others: both must read the same, but for the
// thinking that the conversion left out.
func TestAgreesWithNeutralForm(t *testing.T) {
	for log, session := range map[string]string{
		"claude-code.small.jsonl":     "entireio-cli__claude-6c-3e73767733-0.jsonl",
		"claude-code.medium.jsonl":    "entireio-cli__claude-8e-0a64736bc7-0.jsonl",
		"claude-code.compacted.jsonl": "entireio-cli__claude-ac-3f02a3c337-2.jsonl",
		"openai-chat.tau-bench.json":  "tau-bench__airline-gpt4o-task00-trial3.jsonl",
		"gemini-cli.json":             "entireio-cli__gemini-ab-2b9748b105-0.jsonl",
	} {
		t.Run(log, func(t *testing.T) {
			a, b := sharedSession(t, "formats", log), sharedSession(t, "sessions", session)
			if a == nil {
				return
			}
			if len(a.Messages) != len(b.Messages) {
				t.Fatalf("%d messages, %d in neutral form", len(a.Messages), len(b.Messages))
			}
			for i := range a.Messages {
				m, n := &a.Messages[i], &b.Messages[i]
				if m.Role != n.Role || m.Kind != n.Kind || m.Text() != n.Text() || m.ToolCallID != n.ToolCallID ||
					m.IsError != n.IsError || len(m.ToolCalls) != len(n.ToolCalls) {
					t.Fatalf("message %d:\n%+v\n%+v", i, m, n)
				}
				for k := range m.ToolCalls {
					if m.ToolCalls[k].ID != n.ToolCalls[k].ID || m.ToolCalls[k].Name != n.ToolCalls[k].Name {
						t.Fatalf("message %d: %+v %+v", i, m.ToolCalls[k], n.ToolCalls[k])
					}
				}
			}
		})
	}
}

// Files of other programs are not taken for one of ours.
func TestOtherFormatsAreTold(t *testing.T) {
	for _, name := range []string{"codex-rollout*.jsonl", "pi-session.jsonl", "swe-agent.traj", "openhands-events.json"} {
		for _, p := range shared.Glob(t, "data", "formats", name) {
			data, err := os.ReadFile(p)
			if err != nil {
				t.Fatal(err)
			}
			s, err := transcript.Read(p, data, transcript.Auto)
			if err == nil && slices.Contains([]transcript.Format{transcript.Anthropic, transcript.OpenAIResponses,
				transcript.Gemini, transcript.GeminiCLI, transcript.OpenAI, transcript.ClaudeCode}, s.Format) {
				t.Errorf("%s: read as %s", name, s.Format)
			}
		}
	}
}

func sharedSession(t *testing.T, folder, name string) *transcript.Session {
	t.Helper()
	paths := shared.Glob(t, "data", folder, name)
	if len(paths) == 0 {
		return nil
	}
	data, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	return read(t, data, transcript.Auto)
}
