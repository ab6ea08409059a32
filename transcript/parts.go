package transcript

import (
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

// The formats hold images in different parts, and only some hold a model's
// thinking. These functions write the parts of one in the form of another:
// images are translated, thinking is left out where it has no place, and any
// other part becomes a line of text that says what stood there.

// plain is the content that some parts make: a text alone is a string. It
// serves formats that always write lists.
func plain(parts []abi.Part) abi.Content {
	switch {
	case len(parts) == 0:
		return abi.Content{}
	case len(parts) == 1 && parts[0].Type == "text":
		return abi.Text(parts[0].Text)
	}
	return abi.Parts(parts...)
}

// openAIContent is a content for chat completions. The tool role takes text
// alone.
func openAIContent(c abi.Content, role abi.Role) []byte {
	if !c.IsParts() {
		return quote(c.Text())
	}
	var parts [][]byte
	plain := true
	for _, p := range c.Parts() {
		img, isImage := imageOf(p)
		switch {
		case p.Type == "text":
			parts = append(parts, textPart(p.Text))
		case isThinking(p.Type):
		case p.Type == "image_url", p.Type == "input_audio", p.Type == "file", p.Type == "refusal":
			parts, plain = append(parts, partJSON(p)), false
		case isImage:
			parts, plain = append(parts, img.openAI()), false
		default:
			parts = append(parts, textPart("["+p.Type+"]"))
		}
	}
	if len(parts) > 0 && (role == abi.RoleUser || plain && role != abi.RoleTool) {
		return listJSON(parts)
	}
	return quote(plainText(c))
}

// plainText is a content as text alone.
func plainText(c abi.Content) string {
	if !c.IsParts() {
		return c.Text()
	}
	var texts []string
	for _, p := range c.Parts() {
		_, isImage := imageOf(p)
		switch {
		case p.Type == "text":
			texts = append(texts, p.Text)
		case isThinking(p.Type):
		case isImage && p.Type != "image_url":
			texts = append(texts, noImage)
		default:
			texts = append(texts, "["+p.Type+"]")
		}
	}
	return strings.Join(texts, "\n")
}

// partJSON is the part as it was, on one line. One that is no JSON object, as
// no format can have it, becomes text that names its type.
func partJSON(p abi.Part) []byte {
	raw, err := p.MarshalJSON()
	if err != nil || !isObject(string(raw)) {
		return textPart("[" + p.Type + "]")
	}
	return compacted(raw)
}

func textPart(text string) []byte {
	return new(builder).str("type", "text").str("text", text).bytes()
}

// isThinking reports whether parts of a type are what a model thought, which
// only the model's own provider can read again.
func isThinking(typ string) bool {
	return typ == "thinking" || typ == "redacted_thinking" || typ == "reasoning"
}

// said is a text for formats that refuse empty ones.
func said(text string) string {
	if strings.TrimSpace(text) == "" {
		return "(no content)"
	}
	return text
}
