package transcript_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/transcript"
)

// sharedFormats are the files of other formats than neutral among the shared
// data.
func sharedFormats(tb testing.TB) (all []sample) {
	tb.Helper()
	for _, p := range shared.With(tb, nil, "data", "formats", "*") {
		data, err := os.ReadFile(p)
		if err != nil {
			tb.Fatal(err)
		}
		all = append(all, sample{filepath.Base(p), data, formatOf(tb, p)})
	}
	return all
}

// formatOf is the format of a shared file, which its name says.
func formatOf(tb testing.TB, path string) transcript.Format {
	tb.Helper()
	for pattern, f := range map[string]transcript.Format{
		"anthropic_messages__*": anthropic, "openai_responses__*": responses,
		"openai_chat__*": openAI, "openai-chat.*": openAI,
		"gemini_contents__*": gemini, "gemini-cli.*": geminiCLI,
		"claude-code.*": claudeCode, "codex-rollout.*": codex, "pi-session.*": pi,
		"swe-agent.*": sweAgent, "openhands-events.*": openHands,
	} {
		if ok, _ := filepath.Match(pattern, filepath.Base(path)); ok {
			return f
		}
	}
	tb.Fatalf("%s: of no format that is known here", path)
	return ""
}

// Every shared file is found to be what it is and written as it was, and every
// format that is not our own is among them.
func TestEverySharedFileIsByteExact(t *testing.T) {
	seen := make(map[transcript.Format]bool)
	files := sharedFormats(t)
	if files == nil {
		t.Skip("no shared data: the files of other programs are there")
	}
	for _, s := range files {
		t.Run(s.name, func(t *testing.T) { byteExact(t, s) })
		seen[s.format] = true
	}
	if want := len(transcript.Formats()) - 1; len(seen) != want || len(files) < 28 {
		t.Errorf("%d files of %d formats, want 28 of %d", len(files), len(seen), want)
	}
}

// recordedRequests are the request bodies among the recorded exchanges, each
// in the format of its provider: the latest to each provider in a recording,
// which says again what those before it said.
func recordedRequests(tb testing.TB) []sample {
	tb.Helper()
	var all []sample
	for _, p := range shared.With(tb, nil, "data", "formats", "*__*.json") {
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
				"/v1/chat/completions": openAI, "/v1/responses": responses,
				"/v1/messages": anthropic, "enerateContent": gemini,
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

// converted is a session in neutral form that others made of a log.
type converted struct {
	session string
	// dropped are messages of ours that the conversion has not.
	dropped func(m *abi.Message) bool
	// poorer says that the conversion left out kinds and marks of failed calls.
	poorer bool
	// filled says that it wrote something for results that are empty.
	filled bool
	// later says that an answer over several lines, or the result in an answer's
	// entry, has another time.
	later bool
}

// The shared data holds some sessions both as their program wrote them and in
// neutral form, converted by others: both must read the same, but for the
// thinking that the conversion left out, and for what is named here.
func TestAgreesWithNeutralForm(t *testing.T) {
	silent := func(m *abi.Message) bool {
		return m.Role == abi.RoleAssistant && m.Text() == "" && len(m.ToolCalls) == 0 // cancelled
	}
	ofHarness := func(m *abi.Message) bool { return m.Kind == abi.KindSynthetic } // errors outside any call
	for log, c := range map[string]converted{
		"claude-code.small.jsonl":     {session: "entireio-cli__claude-6c-3e73767733-0.jsonl", later: true},
		"claude-code.medium.jsonl":    {session: "entireio-cli__claude-8e-0a64736bc7-0.jsonl", later: true},
		"claude-code.compacted.jsonl": {session: "entireio-cli__claude-ac-3f02a3c337-2.jsonl", later: true},
		"openai-chat.tau-bench.json":  {session: "tau-bench__airline-gpt4o-task00-trial3.jsonl"},
		"gemini-cli.json":             {session: "entireio-cli__gemini-ab-2b9748b105-0.jsonl", later: true},
		"codex-rollout.jsonl":         {session: "entireio-skills__codex-01-da544acf74-0.jsonl", poorer: true},
		"codex-rollout.large.jsonl":   {session: "entireio-skills__codex-6c-fb81c05ca9-0.jsonl", poorer: true},
		"pi-session.jsonl":            {session: "pi-mono__before-compaction.jsonl", dropped: silent},
		"swe-agent.traj":              {session: "swe-agent__replay__mm1867__function_calling__install-1-mm1867.jsonl"},
		"openhands-events.json": {session: "openhands__multi_swe_bench-1.jsonl", dropped: ofHarness, poorer: true,
			filled: true},
	} {
		t.Run(log, func(t *testing.T) {
			a, b := sharedSession(t, "formats", log), sharedSession(t, "sessions", c.session)
			if a == nil {
				t.Skip("no shared data: the pairs of sessions are there")
			}
			ours := slices.Clone(a.Messages)
			if c.dropped != nil {
				ours = slices.DeleteFunc(ours, func(m abi.Message) bool { return c.dropped(&m) })
			}
			if len(ours) != len(b.Messages) {
				t.Fatalf("%d messages, %d in neutral form", len(ours), len(b.Messages))
			}
			for i := range ours {
				if !c.same(&ours[i], &b.Messages[i]) {
					t.Fatalf("message %d:\n%+v\n%+v", i, ours[i], b.Messages[i])
				}
			}
		})
	}
}

func (c *converted) same(m, n *abi.Message) bool {
	text := m.Text() == n.Text() || c.filled && m.Role == abi.RoleTool && m.Text() == "" ||
		m.Kind == abi.KindBash && strings.HasPrefix(m.Text(), n.Text()) // without the note on what was cut
	marks := m.Kind == n.Kind && m.IsError == n.IsError || c.poorer && n.Kind == "" && !n.IsError
	if !text || !marks || m.Role != n.Role || m.ToolCallID != n.ToolCallID ||
		!c.later && m.Timestamp != n.Timestamp || len(m.ToolCalls) != len(n.ToolCalls) {
		return false
	}
	for k := range m.ToolCalls {
		if m.ToolCalls[k].ID != n.ToolCalls[k].ID || m.ToolCalls[k].Name != n.ToolCalls[k].Name {
			return false
		}
	}
	return true
}

func sharedSession(t *testing.T, folder, name string) *transcript.Session {
	t.Helper()
	paths := shared.With(t, nil, "data", folder, name)
	if len(paths) == 0 {
		return nil
	}
	data, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	return read(t, data, transcript.Auto)
}
