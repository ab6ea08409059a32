package anthropic

import (
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/transcript/internal/codec"
	"github.com/kagewasm/kagewasm/transcript/internal/content"
	"github.com/kagewasm/kagewasm/transcript/internal/jsondoc"
)

var blockKeys = []string{"type", "text", "id", "name", "input", "tool_use_id", "content", "is_error", "signature",
	encrypted}

// encrypted is the key of what the server alone can read of its compaction.
const encrypted = "encrypted_content"

// ReadBlock reads a content block of the Messages API: see
// [codec.BlockReader]. Blocks of tools that the server runs (server_tool_use and
// its results) are parts of the answer they stand in.
func ReadBlock(parent *jsondoc.Object, at jsondoc.Span, rec int, answer bool) codec.Block {
	b := parent.Child(at, "a content block", blockKeys...)
	switch typ := b.Str("type"); {
	case typ == "tool_use" && answer:
		return codec.CallBlock(rec, b, b.Str("id"), b.Str("name"), "input")
	case typ == "compaction" && answer:
		return codec.Block{Message: &abi.Message{Role: abi.RoleUser, Kind: abi.KindSummary, Content: readCompaction(b)}}
	case typ == "tool_result" && !answer:
		return codec.Block{At: codec.SlotOf(rec, b, "content"), Message: &abi.Message{
			Role: abi.RoleTool, ToolCallID: b.Str("tool_use_id"), IsError: b.Flag("is_error"),
			Content: codec.Content(b, "content"),
		}}
	}
	part := codec.Part(b, at)
	return codec.Block{Part: part, Signed: isSigned(part)}
}

// readCompaction reads what a compaction says, and what only the server can read of
// it.
func readCompaction(b *jsondoc.Object) abi.Content {
	said := codec.Content(b, "content")
	if b.Str(encrypted) == "" {
		return said
	}
	parts := said.Parts()
	if !said.IsParts() && said.Text() != "" {
		parts = []abi.Part{abi.TextPart(said.Text())}
	}
	return abi.Parts(append(slices.Clip(parts), abi.RawPart("compaction",
		jsondoc.Obj("type", "compaction", encrypted, b.Str(encrypted))))...)
}

// isEncrypted reports whether only the server can read a part of a compaction.
func isEncrypted(c abi.Content) bool {
	return slices.ContainsFunc(c.Parts(), func(p abi.Part) bool { return p.Type == "compaction" })
}

// isSigned reports whether a part is thinking that the provider signed: it can
// be sent back, and what stands beside it must not change.
func isSigned(p abi.Part) bool {
	return p.Type == "redacted_thinking" ||
		p.Type == "thinking" && jsondoc.Parse(content.PartJSON(p)).Str("signature") != ""
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
