package codex

import (
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

// fragments are the frames in which Codex itself writes user messages.
var fragments = []struct {
	open, close string
	kind        abi.Kind
}{
	{"# AGENTS.md instructions", "</INSTRUCTIONS>", abi.KindInstructions},
	{"<user_instructions>", "</user_instructions>", abi.KindInstructions},
	{"<environment_context>", "</environment_context>", abi.KindMeta},
	{"<skill>", "</skill>", abi.KindMeta},
	{"<subagent_notification>", "</subagent_notification>", abi.KindMeta},
	{"<user_shell_command>", "</user_shell_command>", abi.KindBash},
	{"<turn_aborted>", "</turn_aborted>", abi.KindSynthetic},
	{"<hook_prompt", "</hook_prompt>", abi.KindSynthetic},
}

// summaryStart is how the user message begins in which Codex hands its summary
// over to the model.
const summaryStart = "Another language model started to solve this problem and " +
	"produced a summary of its thinking process."

// kindOf returns the kind of a user message that Codex wrote, "" for others. One
// part in a frame of Codex's makes the message Codex's.
func kindOf(c abi.Content) abi.Kind {
	if !c.IsParts() {
		return fragmentKind(c.Text())
	}
	for _, p := range c.Parts() {
		if kind := fragmentKind(p.Text); kind != "" {
			return kind
		}
	}
	return ""
}

func fragmentKind(text string) abi.Kind {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, summaryStart) {
		return abi.KindSummary
	}
	for _, f := range fragments {
		if len(text) >= len(f.open)+len(f.close) && strings.EqualFold(text[:len(f.open)], f.open) &&
			strings.EqualFold(text[len(text)-len(f.close):], f.close) {
			return f.kind
		}
	}
	return ""
}
