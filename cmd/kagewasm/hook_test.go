package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/transcript"
)

// longLog is a session with more names than there is room for in what a hook says, as an agent keeps it.
func longLog(t *testing.T, format transcript.Format) []byte {
	t.Helper()
	path := filepath.Join(shared.Root(t), "testdata", "demo.jsonl")
	s, err := transcript.Read(path, read(t, path), transcript.Neutral)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		s.Messages = append(s.Messages, s.Messages...)
	}
	for i := range s.Messages {
		s.Messages[i].ID = ""
	}
	log, err := s.Encode(s.Messages, format)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// askHook runs the hook of an agent whose log is in a folder, and returns what it says.
func askHook(t *testing.T, dir, agent, session, event, source string) string {
	t.Helper()
	call, err := json.Marshal(map[string]string{"session_id": session, "hook_event_name": event, "source": source,
		"transcript_path": filepath.Join(dir, "log.jsonl")})
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(dir, "state")
	cmd := exec.CommandContext(t.Context(), os.Args[0], "hook", agent, "--state", home)
	cmd.Env, cmd.Dir, cmd.Stdin, cmd.Stderr = environment(home), dir, strings.NewReader(string(call)), os.Stderr
	said, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(said)
}

// TestHooksOfClaudeCode: a Claude Code without mods is told what its summary is to keep, and once more behind it, in
// fewer characters than it takes from a hook. Nothing is said of another session, or twice.
func TestHooksOfClaudeCode(t *testing.T) {
	dir := t.TempDir()
	hook := func(session, event, source string) string {
		return askHook(t, dir, "claude-code", session, event, source)
	}
	if err := os.WriteFile(filepath.Join(dir, "log.jsonl"), longLog(t, "claude-code"), 0o600); err != nil {
		t.Fatal(err)
	}
	asked := hook("s1", "PreCompact", "")
	if got := hook("s1", "SessionStart", "resume") + hook("s2", "SessionStart", "compact"); got != "" {
		t.Errorf("it is told without a compaction: %s", got)
	}
	told := hook("s1", "SessionStart", "compact")
	for what, text := range map[string]string{"Keep them word for word in the summary": asked,
		"What the summary may have left out": told} {
		if n := utf8.RuneCountInString(text); !strings.Contains(text, what) || n < 2000 || n >= mostInjected {
			t.Errorf("%d characters, of %d: %.300s", n, mostInjected, text)
		}
	}
	if got := hook("s1", "SessionStart", "compact"); got != "" {
		t.Errorf("it is told twice: %s", got)
	}
}

// TestHookOfCodex: behind a compaction that Codex made, and behind no other, the conversation is handed what it was
// about, also before earlier ones, in fewer bytes than Codex takes from a hook. It is said once.
func TestHookOfCodex(t *testing.T) {
	entry := func(typ, payload string) string {
		return `{"timestamp":"2026-01-02T03:00:00.000Z","type":"` + typ + `","payload":` + payload + "}\n"
	}
	by := func(sealed string) string {
		return entry("compacted", `{"message":"","replacement_history":[{"type":"message","role":"user","content":[{"type":`+
			`"input_text","text":"hi"}]},{"type":"compaction","id":"cmp_1","encrypted_content":"`+sealed+`"}]}`)
	}
	log := string(longLog(t, "codex"))
	foreign, ours := by("gAAAA"), by("kagewasm1.AAAA")
	summary := entry("response_item", `{"type":"message","role":"assistant","content":[{"type":"output_text",`+
		`"text":"They were Bavarian."}]}`) + entry("compacted", `{"message":"Another language model wrote: They were `+
		`Bavarian.","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":`+
		`"Another language model wrote: They were Bavarian."}]}]}`)
	said := entry("response_item", `{"type":"message","role":"developer","content":[{"type":"input_text","text":"`+
		strings.TrimSpace(handedBack)+`\nx"}]}`)
	answer := entry("response_item",
		`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Yes."}]}`)
	for _, c := range []struct {
		why, log, source string
		told             bool
	}{
		{"a compaction by the provider", log + foreign, "compact", true},
		{"a summary by a model", log + summary, "compact", true},
		{"one that was made before Codex ended", log + foreign, "resume", true},
		{"the second one", log + foreign + said + answer + foreign, "compact", true},
		{"one behind ours", log + ours + answer + foreign, "compact", true},
		{"while the log is written", log + foreign + `{"timestamp":"2026-`, "compact", true},
		{"ours", log + ours, "compact", false},
		{"ours behind one of the provider's", log + foreign + ours, "compact", false},
		{"none", log, "resume", false},
		{"one that was told of", log + foreign + said, "compact", false},
		{"one that the model has answered behind", log + foreign + answer, "resume", false},
		{"a new session", log + foreign, "startup", false},
	} {
		t.Run(c.why, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "log.jsonl"), []byte(c.log), 0o600); err != nil {
				t.Fatal(err)
			}
			got := askHook(t, dir, "codex", "s1", "SessionStart", c.source)
			if !c.told {
				if got != "" {
					t.Errorf("it is told %.300s", got)
				}
				return
			}
			var answer struct {
				Out struct {
					Event   string `json:"hookEventName"`
					Context string `json:"additionalContext"`
				} `json:"hookSpecificOutput"`
			}
			if err := json.Unmarshal([]byte(got), &answer); err != nil {
				t.Fatalf("%v: %s", err, got)
			}
			if text := answer.Out.Context; answer.Out.Event != "SessionStart" || !strings.HasPrefix(text, handedBack) ||
				len(text) < 2000 || len(text) >= mostInjected || strings.Count(text, handedBack) != 1 ||
				strings.Contains(text, "Bavarian") {
				t.Errorf("%s, %d bytes: %.300s", answer.Out.Event, len(text), text)
			}
		})
	}
}
