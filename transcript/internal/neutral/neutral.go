// Package neutral is the project's own format: an [abi.Message] a line, after
// an optional first line {"tools":[...]}. It keeps keys it does not know. A
// timestamp may be a number; its text is kept. The role developer is system.
package neutral

import (
	"maps"
	"slices"

	"github.com/goccy/go-json"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/transcript/internal/codec"
	"github.com/kagewasm/kagewasm/transcript/internal/content"
	"github.com/kagewasm/kagewasm/transcript/internal/jsondoc"
)

// Format is the neutral format.
var Format = codec.Format{Name: "neutral", Lines: true, Detect: detect, Read: read, Write: write}

var keys = []string{"id", "role", "content", "tool_calls", "tool_call_id", "name", "is_error", "timestamp", "kind",
	"meta", "raw", "tools"}

func detect(f *codec.File) string {
	o := f.Probe(f.First, "the first line", keys...)
	if o.Has("role") || isToolsLine(o) {
		return ""
	}
	return `the first line has no "role"`
}

func isToolsLine(o *jsondoc.Object) bool { return !o.Raw("role").OK() && o.Is("tools", '[') }

func read(f *codec.File) *codec.Log {
	l := f.LineLog()
	l.Entry, l.Args, l.DropsThinking = writeMessage, writeArgs, true
	l.Each("the line", keys, func(i int, o *jsondoc.Object) {
		if i == 0 && isToolsLine(o) {
			l.Tools = o.Bytes(o.Raw("tools"))
		} else {
			readMessage(l, i, o)
		}
	})
	return l
}

func readMessage(l *codec.Log, i int, o *jsondoc.Object) {
	m := l.Add(i, abi.Message{
		ID: o.Str("id"), Role: readRole(o), Content: codec.Content(o, "content"),
		ToolCallID: o.Str("tool_call_id"), Name: o.Str("name"), IsError: o.Flag("is_error"),
		Timestamp: o.Scalar("timestamp"), Kind: abi.Kind(o.Str("kind")), Meta: readMeta(o),
	})
	if at := o.Value("raw"); at.OK() {
		m.Raw = o.Bytes(at)
	}
	m.Output = codec.SlotOf(i, o, "content")
	for _, at := range o.List("tool_calls") {
		c := o.Child(at, "a tool call", "id", "name", "arguments")
		if c.Value("function").OK() && !c.Is("name", '"') {
			c.Fail(at.Start, "read the file in the format openai", `a tool call with "function" and no "name"`)
		}
		m.Call(i, c, c.Str("id"), c.Str("name"), "arguments")
	}
}

func readRole(o *jsondoc.Object) abi.Role {
	if o.Is("role", '"') && o.Str("role") == "developer" {
		return abi.RoleSystem
	}
	return codec.Role(o)
}

func readMeta(o *jsondoc.Object) (meta abi.Meta) {
	at := o.Value("meta")
	if at.OK() && (o.Kind(at) != '{' || json.Unmarshal(o.Bytes(at), &meta) != nil) {
		o.Fail(at.Start, "write it as an object", `"meta" is not an object`)
	}
	return meta
}

// writeArgs writes arguments as they were written: a string, or a value.
func writeArgs(text string, was codec.Slot) []byte {
	if !was.Text && jsondoc.IsObject(text) {
		return jsondoc.Compact([]byte(text))
	}
	return jsondoc.Quote(text)
}

func writeMessage(m *abi.Message) []byte {
	calls := lists.Map(m.ToolCalls, func(c abi.ToolCall) []byte {
		return jsondoc.Obj("id", c.ID, "name", c.Name, "arguments", c.Arguments)
	})
	return jsondoc.Obj("id", jsondoc.Maybe(m.ID), "role", string(m.Role), "content", content.JSON(m.Content),
		"tool_calls", jsondoc.If(len(calls) > 0, calls),
		"tool_call_id", jsondoc.Maybe(m.ToolCallID), "name", jsondoc.Maybe(m.Name), "is_error", jsondoc.If(m.IsError, true),
		"timestamp", jsondoc.Maybe(m.Timestamp), "kind", jsondoc.Maybe(string(m.Kind)),
		"meta", jsondoc.If(len(m.Meta) > 0, metaJSON(m.Meta)), "raw", jsondoc.If(len(m.Raw) > 0, jsondoc.Compact(m.Raw)))
}

func metaJSON(meta abi.Meta) []byte {
	var fields []any
	for _, key := range slices.Sorted(maps.Keys(meta)) {
		fields = append(fields, key, jsondoc.Compact(meta[key]))
	}
	return jsondoc.Obj(fields...)
}

func write(about codec.About, msgs []abi.Message) (out []byte) {
	if len(about.Tools) > 0 {
		out = append(jsondoc.Obj("tools", jsondoc.Compact(about.Tools)), '\n')
	}
	for i := range msgs {
		out = append(append(out, writeMessage(&msgs[i])...), '\n')
	}
	return out
}
