package abi

import (
	"encoding/hex"
	"strings"

	"github.com/kagewasm/kagewasm/internal/sum"
)

// Fence frames foreign text for a model: it says what the text is and where it
// comes from, that it is data and no instruction, and it ends at a boundary
// the text cannot contain. The boundary is derived from the text, so the same
// text has the same frame (caches, replays), and whoever writes the text
// cannot know it beforehand.
//
// The text is also defused, see [Defuse], and otherwise kept to the last
// newline. The note is written on one line, in brackets.
func Fence(kind Kind, from, note, text string) string {
	text = Defuse(text)
	whole := sum.Of(string(kind), "\x00", from, "\x00", text)
	tag := fenceName(string(kind)) + "-" + hex.EncodeToString(whole[:8])
	var b strings.Builder
	b.Grow(len(text) + len(note) + 160)
	b.WriteString("<" + tag + ` from="` + Defuse(fenceName(from)) + "\">\n")
	if note != "" {
		b.WriteString(Defuse("["+strings.ReplaceAll(note, "\n", " ")+"]") + "\n")
	}
	b.WriteString("\n")
	b.WriteString(text)
	b.WriteString("\n</" + tag + ">")
	return b.String()
}

// Unfence returns the text inside a frame that [Fence] wrote, without the
// note, and whether s is such a frame. White space around the frame is
// ignored. It does not prove who wrote the frame: the boundary is no secret.
func Unfence(s string) (text string, ok bool) {
	head, body, ok := strings.Cut(strings.TrimSpace(s), "\n")
	if !ok || !strings.HasPrefix(head, "<") || !strings.HasSuffix(head, "\">") {
		return "", false
	}
	tag, _, ok := strings.Cut(head[1:], " from=\"")
	if !ok {
		return "", false
	}
	body, ok = strings.CutSuffix(body, "\n</"+tag+">")
	if !ok {
		return "", false
	}
	if strings.HasPrefix(body, "[") {
		_, body, ok = strings.Cut(body, "\n")
		if !ok {
			return "", false
		}
	}
	return strings.CutPrefix(body, "\n")
}

// fenceName makes s fit for the first line of a frame.
func fenceName(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '"' || r == '<' || r == '>' || r == '\t' || r == '\n' || isControl(r) || invisible(r):
			return '_'
		}
		return r
	}, s)
}
