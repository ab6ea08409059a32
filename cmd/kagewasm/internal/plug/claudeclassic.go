package plug

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
)

// modsSince is the first version of Claude Code that loads mods by itself.
const modsSince = "2.1.287"

// claudeClassic is for versions without mods, which let nobody compact for them: hooks tell the model that summarizes
// what to keep, and hand the note to the conversation that begins behind the summary.
func claudeClassic(s Setup) Plan {
	return Plan{
		Edits: []Edit{editClassic(s)},
		Adds:  true,
		Next:  "this version has no mods: " + modsSince + " lets kagewasm compact",
	}
}

func editClassic(s Setup) Edit {
	command := s.hook("claude-code")
	return editHooks(filepath.Join(claudeHome(s), "settings.json"), "claude-code",
		hook{event: "PreCompact", command: command}, hook{event: "SessionStart", matcher: "compact", command: command})
}

// tryClassic asks the hooks, as Claude Code does before it summarizes. What it makes of that only a model shows.
func tryClassic(ctx context.Context, s Setup) error {
	t, err := newTrial(s)
	if err != nil {
		return err
	}
	defer t.close()
	if _, err := t.sample("claude-code", func(string) string { return "log.jsonl" }); err != nil {
		return err
	}
	call, err := json.Marshal(map[string]string{"session_id": "doctor", "hook_event_name": "PreCompact",
		"transcript_path": filepath.Join(t.dir, "log.jsonl")})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, trying)
	defer cancel()
	args := slices.Concat([]string{"hook", "claude-code"}, s.Policy, t.setup.State)
	cmd := exec.CommandContext(ctx, s.Kagewasm, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(call), &stdout, &stderr
	if err = cmd.Run(); err == nil && stdout.Len() == 0 {
		err = errors.New("its hook says nothing")
	}
	if err != nil {
		return failed(err, first(stderr.String()))
	}
	return nil
}
