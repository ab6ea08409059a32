package transcript

import (
	"github.com/goccy/go-json"

	"github.com/kagewasm/kagewasm/abi"
)

// claudeBlocks are the content blocks of the Messages API. Blocks of tools that
// the server runs (server_tool_use and its results) are parts of the answer
// they stand in.
type claudeBlocks struct{}

var claudeBlockKeys = []string{"type", "text", "id", "name", "input", "tool_use_id", "content", "is_error", "signature"}

func (claudeBlocks) open(parent *object, at span) (*object, blockClass) {
	b := parent.child(at, "a content block", claudeBlockKeys...)
	switch b.str("type") {
	case "tool_use":
		return b, blockCall
	case "tool_result":
		return b, blockResult
	case "compaction":
		return b, blockSummary
	}
	return b, blockPart
}

func (claudeBlocks) call(b *object, rec int) (abi.ToolCall, slot, bool) {
	return abi.ToolCall{ID: b.str("id"), Name: b.str("name"), Arguments: b.arguments("input")}, b.slot(rec, "input"), false
}

func (claudeBlocks) result(b *object, rec int) (abi.Message, slot) {
	if b.str("type") == "compaction" {
		text := b.content("content")
		return abi.Message{Role: abi.RoleUser, Kind: abi.KindSummary, Content: text}, slot{}
	}
	return abi.Message{
		Role: abi.RoleTool, ToolCallID: b.str("tool_use_id"), IsError: b.flag("is_error"), Content: b.content("content"),
	}, b.slot(rec, "content")
}

func (claudeBlocks) part(b *object) (abi.Part, bool) {
	parts := b.parts([]span{b.at}).Parts()
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
	return p.Type == "thinking" && json.Unmarshal(partJSON(p), &thinking) == nil && thinking.Signature != ""
}
