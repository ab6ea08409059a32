package strategies

import (
	"cmp"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/lazy"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// transcript writes messages as text for the summarizer. It leaves out what the summarizer has no use
// for, and shortens tool results to chars, and arguments to twice that or minArguments.
type transcript struct {
	messages []abi.Message
	chars    int
}

// unit returns the text of a tool call with its results, wherever they stood, or of any other message.
// It is empty where nothing of it is to be read.
func (t transcript) unit(u abi.Unit) string {
	var parts []string
	tools := make(map[string]string)
	for _, i := range u {
		m := &t.messages[i]
		for _, c := range m.ToolCalls {
			tools[c.ID] = c.Name
		}
		if !silent(m) {
			parts = append(parts, strings.TrimSpace("["+speaker(m, tools[m.ToolCallID])+"]\n"+t.body(m)))
		}
	}
	return strings.Join(parts, "\n\n")
}

// kept returns the text of a message of a person that stays in the session.
func (t transcript) kept(i int) string {
	return "[user; stays in the session, here so that the rest is understood]\n" +
		headTail(noLabels(said(&t.messages[i])), keptChars)
}

// keptChars is how many characters of such a message are shown.
const keptChars = 2000

// silent reports whether there is nothing of a message to read.
func silent(m *abi.Message) bool {
	return stripped(m) || m.Role != abi.RoleTool && len(m.ToolCalls) == 0 && noLabels(said(m)) == ""
}

// speaker returns who a message is from, and for a result which tool was called. Names in it are
// foreign text.
func speaker(m *abi.Message, called string) string {
	if m.Role == abi.RoleTool {
		name := m.Name
		name = cmp.Or(name, called)
		s := strings.TrimSpace("tool " + label(name))
		if m.IsError {
			s += ", failed"
		}
		return s
	}
	switch m.Kind {
	case "":
		return label(string(m.Role))
	case abi.KindSummary:
		return "earlier summary"
	case abi.KindInjected:
		return "recalled memory"
	case abi.KindBash:
		return "user ran"
	}
	return label(string(m.Role)) + ", " + label(string(m.Kind))
}

func (t transcript) body(m *abi.Message) string {
	text := noLabels(said(m))
	if m.Role == abi.RoleTool {
		return headTail(text, t.chars)
	}
	var lines []string
	if text != "" {
		lines = append(lines, text)
	}
	for _, c := range m.ToolCalls {
		lines = append(lines, "-> "+label(c.Name)+" "+headTail(noLabels(c.Arguments), max(2*t.chars, minArguments)))
	}
	return strings.Join(lines, "\n")
}

// minArguments is how many characters of a call's arguments are always shown: without them nothing says
// what was done, and they are short beside results.
const minArguments = 200

// said returns what a message says in words. Thinking is left out, wherever the source put it; media
// are named.
func said(m *abi.Message) string {
	switch m.Kind {
	case abi.KindSummary:
		return note.Said(m.Text())
	case abi.KindInjected:
		if inner, ok := abi.Unfence(m.Text()); ok {
			return inner
		}
	}
	if !m.Content.IsParts() {
		return spoken(m.Role, m.Text())
	}
	var texts []string
	for _, p := range m.Content.Parts() {
		switch {
		case thinks(p.Type):
		case p.Text != "":
			texts = append(texts, spoken(m.Role, p.Text))
		default:
			texts = append(texts, "("+label(p.Type)+")")
		}
	}
	return strings.Join(texts, "\n")
}

func thinks(partType string) bool {
	return strings.Contains(partType, "thinking") || strings.Contains(partType, "reasoning")
}

// spoken returns a text without the thinking that open models write into it.
func spoken(role abi.Role, text string) string {
	if role != abi.RoleAssistant || !strings.Contains(text, "<think") {
		return text
	}
	return thought().ReplaceAllString(text, "")
}

var thought = lazy.Regexp(`(?s)<think(?:ing)?>.*?</think(?:ing)?>\s*`)

// noLabels returns a text that is fit to stand under a speaker's name: no line of it begins as such a
// name does, so that nobody can put words into another's mouth.
func noLabels(text string) string {
	text = strings.TrimSpace(abi.Defuse(text))
	if strings.HasPrefix(text, "[") {
		text = " " + text
	}
	return strings.ReplaceAll(text, "\n[", "\n [")
}

// label returns a foreign name, made fit to stand as a speaker's name.
func label(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == '[' || r == ']' || r == '\n' || r == '\t' {
			return '_'
		}
		return r
	}, abi.Defuse(name))
	return clip.Chars(name, maxLabel)
}

const maxLabel = 64
