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

// TestHooksOfClaudeCode: a Claude Code without mods is told what its summary is to keep, and once more behind it, in
// fewer characters than it takes from a hook. Nothing is said of another session, or twice.
func TestHooksOfClaudeCode(t *testing.T) {
	path := filepath.Join(shared.Root(t), "testdata", "demo.jsonl")
	s, err := transcript.Read(path, read(t, path), transcript.Neutral)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 { // more names than there is room for
		s.Messages = append(s.Messages, s.Messages...)
	}
	for i := range s.Messages {
		s.Messages[i].ID = ""
	}
	log, err := s.Encode(s.Messages, "claude-code")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	home, transcriptPath := filepath.Join(dir, "state"), filepath.Join(dir, "s1.jsonl")
	if err := os.WriteFile(transcriptPath, log, 0o600); err != nil {
		t.Fatal(err)
	}
	hook := func(session, event, source string) string {
		t.Helper()
		call, err := json.Marshal(map[string]string{"session_id": session, "transcript_path": transcriptPath,
			"hook_event_name": event, "source": source})
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), os.Args[0], "hook", "claude-code", "--state", home)
		cmd.Env, cmd.Dir, cmd.Stdin, cmd.Stderr = environment(home), dir, strings.NewReader(string(call)), os.Stderr
		said, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(said)
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
