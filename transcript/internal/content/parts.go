package content

import (
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/transcript/internal/jsondoc"
)

// Form is how a format writes the parts of a content. A model's thinking is left
// out unless Own writes it: only the model's own provider can read it again.
type Form struct {
	// Text writes a text.
	Text func(text string) []byte
	// Own writes parts of the format's own types, and returns nil for others.
	Own func(p abi.Part) []byte
	// Image writes an image, or returns nil if the format cannot hold it.
	Image func(img Image) []byte
}

// Own returns a [Form.Own] that writes parts of these types as they are.
func Own(types ...string) func(abi.Part) []byte {
	return func(p abi.Part) []byte {
		if slices.Contains(types, p.Type) {
			return PartJSON(p)
		}
		return nil
	}
}

// Parts writes a content as parts. An empty text has none.
func (f Form) Parts(c abi.Content) (parts [][]byte) {
	if !c.IsParts() && c.Text() != "" {
		return [][]byte{f.Text(c.Text())}
	}
	for _, p := range c.Parts() {
		if part := f.Part(p); part != nil {
			parts = append(parts, part)
		}
	}
	return parts
}

// Part writes one part, or returns nil if it is left out.
func (f Form) Part(p abi.Part) []byte {
	if p.Type == "text" {
		return f.Text(p.Text)
	}
	if f.Own != nil {
		if own := f.Own(p); own != nil {
			return own
		}
	}
	if IsThinking(p.Type) {
		return nil
	}
	img, ok := ImageOf(p)
	if !ok {
		return f.Text("[" + p.Type + "]")
	}
	if part := f.Image(img); part != nil {
		return part
	}
	return f.Text(noImage)
}

// noImage stands for an image that cannot be written.
const noImage = "[image]"

// Text writes a content as text alone.
func Text(c abi.Content) string {
	if !c.IsParts() {
		return c.Text()
	}
	var texts []string
	for _, p := range c.Parts() {
		_, isImage := ImageOf(p)
		switch {
		case p.Type == "text":
			texts = append(texts, p.Text)
		case IsThinking(p.Type):
		case isImage && p.Type != "image_url":
			texts = append(texts, noImage)
		default:
			texts = append(texts, "["+p.Type+"]")
		}
	}
	return strings.Join(texts, "\n")
}

// JSON writes a content as a string or as a list of parts, as they are.
func JSON(c abi.Content) []byte {
	if !c.IsParts() {
		return jsondoc.Quote(c.Text())
	}
	return jsondoc.List(lists.Map(c.Parts(), PartJSON))
}

// PartJSON writes a part as it was, on one line. A part that is no JSON object
// becomes text that names its type, as no format can hold it.
func PartJSON(p abi.Part) []byte {
	raw, err := p.MarshalJSON()
	if err != nil || !jsondoc.IsObject(string(raw)) {
		return TextPart("[" + p.Type + "]")
	}
	return jsondoc.Compact(raw)
}

// TextPart writes a part of type text.
func TextPart(text string) []byte { return jsondoc.Obj("type", "text", "text", text) }

// FromParts returns the content of some parts. A text alone becomes a string, for
// formats that always write lists.
func FromParts(parts []abi.Part) abi.Content {
	switch {
	case len(parts) == 0:
		return abi.Content{}
	case len(parts) == 1 && parts[0].Type == "text":
		return abi.Text(parts[0].Text)
	}
	return abi.Parts(parts...)
}

// IsThinking reports whether parts of a type are what a model thought.
func IsThinking(typ string) bool {
	return typ == "thinking" || typ == "redacted_thinking" || typ == "reasoning"
}

// Thinking returns a part that holds what a model thought, in the form of the
// Messages API. signature may be empty.
func Thinking(text, signature string) abi.Part {
	raw := jsondoc.Obj("type", "thinking", "thinking", text, "signature", jsondoc.Maybe(signature))
	return abi.RawPart("thinking", raw)
}

// NonEmpty returns a text for formats that refuse empty ones.
func NonEmpty(text string) string {
	if strings.TrimSpace(text) == "" {
		return "(no content)"
	}
	return text
}

// ObjectArgs writes the arguments of a call as an object. Other text stands in
// one under "arguments".
func ObjectArgs(text string) []byte {
	if jsondoc.IsObject(text) {
		return jsondoc.Compact([]byte(text))
	}
	return jsondoc.Obj("arguments", text)
}

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
