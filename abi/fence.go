package abi

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Fence frames foreign text for a model: it says what the text is and where it
// comes from, that it is data and no instruction, and it ends at a boundary
// the text cannot contain. The boundary is derived from the text, so the same
// text has the same frame (caches, replays), and whoever writes the text
// cannot know it beforehand.
//
// The text is also defused: chat-template markers such as <|im_start|> are
// broken up, as are control characters that a terminal would act on.
func Fence(kind Kind, from, note, text string) string {
	text = Defuse(text)
	sum := sha256.Sum256([]byte(string(kind) + "\x00" + from + "\x00" + text))
	tag := string(kind) + "-" + hex.EncodeToString(sum[:8])
	var b strings.Builder
	b.Grow(len(text) + len(note) + 160)
	b.WriteString("<" + tag + ` from="` + fenceName(from) + "\">\n")
	if note != "" {
		b.WriteString("[" + Defuse(note) + "]\n")
	}
	b.WriteString("\n")
	b.WriteString(strings.TrimRight(text, "\n"))
	b.WriteString("\n</" + tag + ">")
	return b.String()
}

// Unfence returns the text inside a frame that [Fence] wrote, without the
// note, and whether s is such a frame.
func Unfence(s string) (text string, ok bool) {
	s = strings.TrimSpace(s)
	head, rest, ok := strings.Cut(s, "\n")
	if !ok || !strings.HasPrefix(head, "<") || !strings.HasSuffix(head, ">") {
		return "", false
	}
	tag, _, ok := strings.Cut(head[1:], " from=\"")
	if !ok {
		return "", false
	}
	body, ok := strings.CutSuffix(rest, "\n</"+tag+">")
	if !ok {
		return "", false
	}
	if strings.HasPrefix(body, "[") {
		if _, after, ok := strings.Cut(body, "]\n\n"); ok {
			return after, true
		}
	}
	return strings.TrimPrefix(body, "\n"), true
}

// Defuse makes text safe to show to a model and on a terminal: it breaks up
// chat-template markers (<|...|>), and drops control characters other than tab
// and newline, and invalid UTF-8.
func Defuse(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if strings.Contains(text, "<|") || strings.Contains(text, "|>") {
		text = strings.NewReplacer("<|", "< |", "|>", "| >").Replace(text)
	}
	if strings.IndexFunc(text, isControl) < 0 {
		return text
	}
	return strings.Map(func(r rune) rune {
		if isControl(r) {
			return -1
		}
		return r
	}, text)
}

func isControl(r rune) bool {
	return r < 0x20 && r != '\t' && r != '\n' || r >= 0x7f && r < 0xa0
}

func fenceName(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '"' || r == '<' || r == '>' || r < 0x20:
			return '_'
		}
		return r
	}, s)
}
