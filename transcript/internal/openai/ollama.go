package openai

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/transcript/internal/codec"
	"github.com/kagewasm/kagewasm/transcript/internal/content"
	"github.com/kagewasm/kagewasm/transcript/internal/jsondoc"
)

// Ollama's own chat is this format, but for what stands here: arguments are an object, calls may have no ids, and
// images stand beside the text.

// writeArgs writes arguments as they were written: a string, or an object.
func writeArgs(text string, was codec.Slot) []byte {
	if was.Text || was.Missing() {
		return jsondoc.Quote(text)
	}
	return content.ObjectArgs(text)
}

// waiting are the calls of the last answer that have no result yet, by id and tool.
type waiting []abi.ToolCall

// call takes over the calls of an answer, and gives ids to those that have none: each its own, as results are told of
// calls by them.
func (w *waiting) call(m *codec.Message) {
	if m.Role == abi.RoleTool {
		return
	}
	*w = nil
	seen := make(map[string]int)
	for i := range m.ToolCalls {
		c := &m.ToolCalls[i]
		c.ID = cmp.Or(c.ID, content.OrdinalID(content.FunctionID(c.Name), seen[c.Name]))
		seen[c.Name]++
		*w = append(*w, abi.ToolCall{ID: c.ID, Name: c.Name})
	}
}

// result finds the call of a result that names none: one of its tool, else the first one. Programs may put any word in
// the place of the tool's name, as models read results by their order.
func (w *waiting) result(m *codec.Message, o *jsondoc.Object) {
	if o.Is("tool_name", '"') {
		m.Name = cmp.Or(m.Name, o.Str("tool_name"))
	}
	if m.Role != abi.RoleTool {
		return
	}
	at := slices.IndexFunc(*w, func(c abi.ToolCall) bool {
		return c.ID == m.ToolCallID || m.ToolCallID == "" && c.Name == m.Name
	})
	switch {
	case m.ToolCallID != "":
	case len(*w) > 0:
		at = max(0, at)
		m.ToolCallID = (*w)[at].ID
	case m.Name != "":
		m.ToolCallID = content.FunctionID(m.Name)
	}
	if at >= 0 {
		*w = slices.Delete(*w, at, at+1)
	}
}

// withImages are the words of a message and the images beside them. Results of tools are text alone.
func withImages(m *codec.Message, o *jsondoc.Object) {
	if m.Role == abi.RoleTool || m.Content.IsParts() || !o.Is("images", '[') {
		return
	}
	var parts []abi.Part
	if text := m.Text(); text != "" {
		parts = append(parts, abi.TextPart(text))
	}
	for _, at := range o.List("images") {
		if o.Kind(at) != '"' {
			continue
		}
		data := o.Unquote(at)
		if strings.ContainsAny(data, ":.") {
			continue // an address or the name of a file, which base 64 has no characters for
		}
		url := jsondoc.Obj("url", "data:"+mediaOf(data)+";base64,"+data)
		parts = append(parts, abi.RawPart("image_url", jsondoc.Obj("type", "image_url", "image_url", url)))
	}
	if len(parts) > 0 {
		m.Content = abi.Parts(parts...)
	}
}

// mediaOf is the type of an image by how its bytes begin, in base 64.
func mediaOf(data string) string {
	for begin, media := range map[string]string{"/9j/": "image/jpeg", "R0lG": "image/gif", "UklG": "image/webp"} {
		if strings.HasPrefix(data, begin) {
			return media
		}
	}
	return "image/png"
}
