package content

import (
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

// Framed returns the kind that the frame around a content names: [abi.Fence]
// writes it into the tag. Formats without kinds would otherwise make a
// summary, read again, the words of a person. The empty kind is no frame.
func Framed(c abi.Content) abi.Kind {
	text := strings.TrimSpace(c.Text())
	for _, kind := range []abi.Kind{abi.KindSummary, abi.KindInjected} {
		rest, ok := strings.CutPrefix(text, "<"+string(kind)+"-")
		if !ok {
			continue
		}
		if tag, _, ok := strings.Cut(rest, " from=\""); ok && isHex16(tag) &&
			strings.Contains(rest, "\n</"+string(kind)+"-"+tag+">") {
			return kind
		}
	}
	return ""
}

func isHex16(s string) bool {
	return len(s) == 16 && strings.Trim(s, "0123456789abcdef") == ""
}
