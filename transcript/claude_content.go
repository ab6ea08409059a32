package transcript

import (
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

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
		if p.Type != "reasoning" { // another provider's thinking
			blocks = append(blocks, claudePart(p))
		}
	}
	return blocks
}

func claudePart(p abi.Part) []byte {
	switch p.Type {
	case "text":
		return textPart(p.Text)
	case "image", "document", "thinking", "redacted_thinking", "search_result", "tool_reference":
		return partJSON(p)
	}
	if img, ok := imageOf(p); ok {
		return img.claude()
	}
	if isServerTool(p.Type) {
		return partJSON(p)
	}
	return textPart("[" + p.Type + "]")
}

// isServerTool reports whether blocks of a type are of a tool that the provider
// runs within its answer.
func isServerTool(typ string) bool {
	return typ == "server_tool_use" || strings.HasSuffix(typ, "_tool_result")
}

// toolUse writes a call, under the given id.
func toolUse(c abi.ToolCall, id string) []byte {
	return new(builder).str("type", "tool_use").str("id", id).str("name", c.Name).
		raw("input", objectArgument(c.Arguments, slot{})).bytes()
}

// toolResult writes a result, for the call of the given id.
func toolResult(m *abi.Message, id string) []byte {
	b := new(builder).str("tool_use_id", id).str("type", "tool_result")
	if m.Content.IsParts() {
		b.raw("content", listJSON(claudeContent(m.Content)))
	} else {
		b.str("content", m.Text())
	}
	if m.IsError {
		b.flag("is_error", true)
	}
	return b.bytes()
}

// objectArgument writes the input of a tool call, which has to be an object:
// any other text stands in one under "arguments".
func objectArgument(text string, _ slot) []byte {
	if isObject(text) {
		return compacted([]byte(text))
	}
	return new(builder).str("arguments", text).bytes()
}
