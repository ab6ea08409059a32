package transcript

import (
	"strings"

	"github.com/goccy/go-json"

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
	var texts []string // the same as text alone
	plain := true
	say := func(text string) {
		parts, texts = append(parts, textPart(text)), append(texts, text)
	}
	for _, p := range c.Parts() {
		raw := partJSON(p)
		switch p.Type {
		case "text":
			say(p.Text)
		case "thinking", "redacted_thinking":
		case "image_url", "input_audio", "file", "refusal":
			say("[" + p.Type + "]")
			parts[len(parts)-1], plain = raw, false
		case "image":
			say("[image]")
			parts[len(parts)-1], plain = openAIImage(raw), false
		default:
			say("[" + p.Type + "]")
		}
	}
	if role == abi.RoleUser || plain && role != abi.RoleTool {
		return listJSON(parts)
	}
	return quote(strings.Join(texts, "\n"))
}

// claudeContent is the content blocks for the Messages API.
func claudeContent(c abi.Content) [][]byte {
	if !c.IsParts() {
		if c.Text() == "" {
			return nil
		}
		return [][]byte{textPart(c.Text())}
	}
	var blocks [][]byte
	for _, p := range c.Parts() {
		raw := partJSON(p)
		switch p.Type {
		case "text":
			blocks = append(blocks, textPart(p.Text))
		case "image", "document", "thinking", "redacted_thinking", "search_result", "tool_reference":
			blocks = append(blocks, raw)
		case "image_url":
			blocks = append(blocks, claudeImage(p))
		default:
			blocks = append(blocks, textPart("["+p.Type+"]"))
		}
	}
	return blocks
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

// imageURL is the address or the data: URL of an image in either form, empty
// for other parts.
func imageURL(p abi.Part) string {
	var part struct {
		ImageURL struct {
			URL string `json:"url"`
		} `json:"image_url"`
	}
	raw := partJSON(p)
	if p.Type == "image" {
		raw = openAIImage(raw)
	} else if p.Type != "image_url" {
		return ""
	}
	if json.Unmarshal(raw, &part) != nil {
		return ""
	}
	return part.ImageURL.URL
}

// openAIImage writes a block {"type":"image","source":{...}} as an image_url.
func openAIImage(raw []byte) []byte {
	var block struct {
		Source struct {
			Type      string `json:"type"`
			MediaType string `json:"media_type"`
			Data      string `json:"data"`
			URL       string `json:"url"`
		} `json:"source"`
	}
	if json.Unmarshal(raw, &block) != nil {
		return textPart("[image]")
	}
	url := block.Source.URL
	if block.Source.Type == "base64" {
		url = "data:" + block.Source.MediaType + ";base64," + block.Source.Data
	}
	if url == "" {
		return textPart("[image]")
	}
	return new(builder).str("type", "image_url").raw("image_url", new(builder).str("url", url).bytes()).bytes()
}

// claudeImage is the reverse of openAIImage.
func claudeImage(p abi.Part) []byte {
	url := imageURL(p)
	source := new(builder).str("type", "url").str("url", url)
	if media, data, ok := dataURL(url); ok {
		source = new(builder).str("type", "base64").str("media_type", media).str("data", data)
	} else if url == "" || strings.HasPrefix(url, "data:") {
		return textPart("[image]")
	}
	return new(builder).str("type", "image").raw("source", source.bytes()).bytes()
}

// dataURL reads a data: URL in base64.
func dataURL(url string) (media, data string, ok bool) {
	rest, isData := strings.CutPrefix(url, "data:")
	head, data, _ := strings.Cut(rest, ",")
	media, base64 := strings.CutSuffix(head, ";base64")
	return media, data, isData && base64
}
