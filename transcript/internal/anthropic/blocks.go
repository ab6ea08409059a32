package anthropic

import (
	"strings"

	"github.com/goccy/go-json"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/transcript/internal/codec"
	"github.com/kagewasm/kagewasm/transcript/internal/content"
	"github.com/kagewasm/kagewasm/transcript/internal/jsondoc"
)

// Blocks are the content blocks of the Messages API. Blocks of tools that the
// server runs (server_tool_use and its results) are parts of the answer they
// stand in.
type Blocks struct{}

var blockKeys = []string{"type", "text", "id", "name", "input", "tool_use_id", "content", "is_error", "signature"}

// Open reads the object of a block.
func (Blocks) Open(parent *jsondoc.Object, at jsondoc.Span) (*jsondoc.Object, codec.BlockClass) {
	b := parent.Child(at, "a content block", blockKeys...)
	switch b.Str("type") {
	case "tool_use":
		return b, codec.BlockCall
	case "tool_result":
		return b, codec.BlockResult
	case "compaction":
		return b, codec.BlockSummary
	}
	return b, codec.BlockPart
}

// Call adds a tool_use block to an answer.
func (Blocks) Call(m *codec.Message, b *jsondoc.Object, rec int) bool {
	m.Call(rec, b, b.Str("id"), b.Str("name"), "input")
	return false
}

// Result reads a tool_result block, or a compaction.
func (Blocks) Result(b *jsondoc.Object, rec int) (abi.Message, codec.Slot) {
	if b.Str("type") == "compaction" {
		text := codec.Content(b, "content")
		return abi.Message{Role: abi.RoleUser, Kind: abi.KindSummary, Content: text}, codec.Slot{}
	}
	return abi.Message{
		Role: abi.RoleTool, ToolCallID: b.Str("tool_use_id"), IsError: b.Flag("is_error"),
		Content: codec.Content(b, "content"),
	}, codec.SlotOf(rec, b, "content")
}

// Part reads any other block.
func (Blocks) Part(b *jsondoc.Object) (abi.Part, bool) {
	parts := codec.Parts(b, []jsondoc.Span{b.At}).Parts()
	if len(parts) == 0 {
		return abi.Part{}, false
	}
	return parts[0], isSigned(parts[0])
}

// isSigned reports whether a part is thinking that the provider signed: it can
// be sent back, and what stands beside it must not change.
func isSigned(p abi.Part) bool {
	if p.Type == "redacted_thinking" {
		return true
	}
	var thinking struct {
		Signature string `json:"signature"`
	}
	return p.Type == "thinking" && json.Unmarshal(content.PartJSON(p), &thinking) == nil && thinking.Signature != ""
}

// Form is how the Messages API has the parts of a content.
var Form = content.Form{
	Text: content.TextPart,
	Own: func(p abi.Part) []byte {
		switch p.Type {
		case "image", "document", "thinking", "redacted_thinking", "search_result", "tool_reference":
			return content.PartJSON(p)
		}
		if isServerTool(p.Type) {
			return content.PartJSON(p)
		}
		return nil
	},
	Image: func(img content.Image) []byte {
		switch {
		case img.Data != "":
			return jsondoc.Obj("type", "image",
				"source", jsondoc.Obj("type", "base64", "media_type", img.Media, "data", img.Data))
		case img.URL != "":
			return jsondoc.Obj("type", "image", "source", jsondoc.Obj("type", "url", "url", img.URL))
		}
		return nil
	},
}

// isServerTool reports whether blocks of a type are of a tool that the provider
// runs within its answer.
func isServerTool(typ string) bool {
	return typ == "server_tool_use" || strings.HasSuffix(typ, "_tool_result")
}

// ToolUse writes a call, under the given id.
func ToolUse(c abi.ToolCall, id string) []byte {
	return jsondoc.Obj("type", "tool_use", "id", id, "name", c.Name, "input", content.ObjectArgs(c.Arguments))
}

// ToolResult writes a result, for the call of the given id.
func ToolResult(m *abi.Message, id string) []byte {
	var said any = m.Text()
	if m.Content.IsParts() {
		said = Form.Parts(m.Content)
	}
	return jsondoc.Obj("tool_use_id", id, "type", "tool_result", "content", said, "is_error", jsondoc.If(m.IsError, true))
}
