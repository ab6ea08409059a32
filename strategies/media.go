package strategies

import (
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/media"
)

// plain returns a content as one text: text as it is, media by reference, any other part as the JSON it
// is.
func plain(c abi.Content) string {
	if !c.IsParts() {
		return c.Text()
	}
	texts := lists.Filter(lists.Map(c.Parts(), plainPart), func(s string) bool { return s != "" })
	return strings.Join(texts, "\n")
}

func plainPart(p abi.Part) string {
	raw, err := p.MarshalJSON()
	if err != nil || strings.HasSuffix(p.Type, "text") {
		return p.Text
	}
	if m, ok := media.Of(p); ok {
		return "[" + m.String() + "]"
	}
	return string(raw)
}
