package note

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/strategies/note/internal/names"
	"github.com/kagewasm/kagewasm/strategies/note/internal/outcome"
)

// Loss is something that a superseded message said. A note may tell it all the same.
type Loss struct {
	Kind LossKind `json:"kind"`
	// Message is the id of the message, empty where the text stands in several.
	Message string `json:"message,omitempty"`
	Text    string `json:"text"`
}

// LossKind says what somebody had committed to.
type LossKind string

// The kinds of losses, in the order of what they weigh.
const (
	LostRule     LossKind = "rule"     // what a person said must be, and what was decided
	LostDecision LossKind = "decision" // what the agent decided
	LostFailure  LossKind = "failure"  // what failed, and did not pass later
	LostFile     LossKind = "file"     // what was modified
	LostMessage  LossKind = "message"  // the rest
)

// maxLossLine is how much of a message stands for it, in characters.
const maxLossLine = 160

// Losses lists what went, first what people and the agent had committed to, each kind
// in the order of the session.
func Losses(ctx context.Context, s Session) (list []Loss) {
	n := Build(ctx, s)
	s = s.plain(cmp.Or(s.Memory, new(Memory)))
	origins := abi.Origins(s.Messages)
	said := make(map[string]bool)
	bound := func(m *abi.Message, words string) {
		for _, r := range bindings(words) {
			if r.binds && !r.heads {
				list, said[m.ID] = append(list, Loss{LostRule, m.ID, r.text}), true
			}
		}
	}
	for i := range s.Messages {
		if m := &s.Messages[i]; s.Gone[i] && origins[i] == abi.FromPerson {
			bound(m, m.Words())
		}
	}
	for i := range s.Messages {
		if m := &s.Messages[i]; s.Gone[i] && m.Role == abi.RoleAssistant {
			for line := range unfenced(m.Text()) {
				for sentence := range sentences(line) {
					if bindingWords.says(sentence + " ") {
						list, said[m.ID] = append(list, Loss{LostDecision, m.ID, clip.OneLine(sentence)}), true
					}
				}
			}
		}
	}
	for _, f := range n.names.Failures() {
		if !f.Settled && !f.Changed {
			line := lineSaid(f.Text)
			list = append(list, Loss{LostFailure, s.lastGone(said, func(m *abi.Message) bool {
				return m.Role == abi.RoleTool && line != "" && strings.Contains(m.Text(), line)
			}), f.Text})
		}
	}
	for _, path := range n.Files().Modified {
		list = append(list, Loss{LostFile, s.lastGone(said, func(m *abi.Message) bool {
			return slices.ContainsFunc(m.ToolCalls, func(c abi.ToolCall) bool { return strings.Contains(c.Arguments, path) })
		}), path})
	}
	for i := range s.Messages {
		if m := &s.Messages[i]; s.Gone[i] && !said[m.ID] {
			list = append(list, Loss{LostMessage, m.ID, lineOf(m)})
		}
	}
	return list
}

// lineSaid is the first line that is quoted of what failed, but for the one on how it ended, which many messages have.
func lineSaid(text string) (line string) {
	_, says, _ := strings.Cut(text, "\n")
	for one := range strings.Lines(strings.TrimSpace(says)) {
		if one = strings.TrimSpace(one); one != names.GapLine && !outcome.SaysExit(one) {
			return one
		}
		line = cmp.Or(line, one)
	}
	return line
}

// lastGone is the id of the last message that goes of which something is true. It
// counts as said from then on.
func (s *Session) lastGone(said map[string]bool, is func(*abi.Message) bool) string {
	for i := len(s.Messages) - 1; i >= 0; i-- {
		if m := &s.Messages[i]; s.Gone[i] && is(m) {
			said[m.ID] = true
			return m.ID
		}
	}
	return ""
}

// lineOf is a line for a message.
func lineOf(m *abi.Message) string {
	text := m.Text()
	if text == "" && len(m.ToolCalls) > 0 {
		text = m.ToolCalls[0].Name + " " + m.ToolCalls[0].Arguments
	}
	return string(m.Role) + ": " + clip.Chars(clip.OneLine(text), maxLossLine)
}
