package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/sealmark"
)

// codexHook hands what a compaction by Codex may have left out to the conversation behind it. One that the proxy made
// says that already. Codex tells of it once a turn goes on, and where it was ended before, of the resumption alone.
func codexHook(ctx context.Context, e env, call hookCall, flags []string) error {
	if call.Event != "SessionStart" || call.Source != "compact" && call.Source != "resume" || call.Transcript == "" {
		return nil
	}
	log, err := os.ReadFile(filepath.Clean(call.Transcript))
	if err != nil {
		return &abi.Error{Code: abi.CodeBadInput, Op: "hook", Message: err.Error(), Err: err}
	}
	before := summarizedByCodex(log)
	if before == nil {
		return nil
	}
	note, err := noteOf(ctx, e, before, "codex", flags)
	if err != nil || note == "" {
		return err
	}
	answer, err := json.Marshal(map[string]any{"hookSpecificOutput": map[string]string{"hookEventName": call.Event,
		"additionalContext": handedBack + note}})
	if err != nil {
		return err
	}
	return e.print(string(answer))
}

// rolloutEntry is an entry of Codex's log.
type rolloutEntry struct {
	Type    string `json:"type"`
	Payload struct {
		Type    string            `json:"type"`
		Role    string            `json:"role"`
		Message string            `json:"message"` // of a compaction: the summary
		History []json.RawMessage `json:"replacement_history"`
		Content json.RawMessage   `json:"content"`
	} `json:"payload"`
}

// text is what a message begins with.
func (r *rolloutEntry) text() string {
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(r.Payload.Content, &parts) != nil || len(parts) == 0 {
		return ""
	}
	return parts[0].Text
}

// said reports whether the entry is what this hook said.
func (r *rolloutEntry) said() bool {
	return r.Payload.Role == "developer" && strings.HasPrefix(r.text(), handedBack)
}

// ours reports whether the proxy made the compaction of an entry: its item is the last of what it leaves.
func (r *rolloutEntry) ours() bool {
	var item struct {
		Sealed string `json:"encrypted_content"`
	}
	n := len(r.Payload.History)
	return n > 0 && json.Unmarshal(r.Payload.History[n-1], &item) == nil &&
		strings.HasPrefix(item.Sealed, sealmark.Prefix)
}

// answers reports whether the entry is the model's.
func (r *rolloutEntry) answers() bool {
	return r.Type == "response_item" && (r.Payload.Role == "assistant" || strings.HasSuffix(r.Payload.Type, "_call"))
}

// summarizedByCodex is the log up to its last compaction, without earlier ones and what this hook said: all that was in
// the conversation. It is nil where there is nothing to say: no compaction, one of ours, or one behind which the note
// was said or the model has answered already.
func summarizedByCodex(log []byte) []byte {
	var before bytes.Buffer
	var answer rolloutEntry // the latest one
	due, end, answered := false, 0, 0
	for line := range bytes.Lines(log) {
		var entry rolloutEntry
		if err := json.Unmarshal(line, &entry); err != nil && !json.Valid(line) {
			continue // it is being written
		}
		switch {
		case entry.Type == "compacted":
			due, end = !entry.ours(), before.Len()
			if text := answer.text(); text != "" && strings.HasSuffix(entry.Payload.Message, text) {
				end = answered // the answer is the summary
			}
			continue
		case entry.said():
			due = false
			continue
		case entry.answers():
			due, answer, answered = false, entry, before.Len()
		}
		before.Write(line)
	}
	if !due {
		return nil
	}
	return before.Bytes()[:end]
}
