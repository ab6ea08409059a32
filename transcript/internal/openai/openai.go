// Package openai is the format of chat completions: a list of messages, a
// document or request body with such a list, or one message a line. Roles
// system and developer are both system. The older function_call and role
// function are read too; as they have no ids, a call and its result get the
// function's name for one, which pairs them.
//
// The format has no ids, times and kinds. A user message that stands in a frame
// of [abi.Fence] has the kind that the frame names.
package openai

import (
	"bytes"
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/transcript/internal/codec"
	"github.com/kagewasm/kagewasm/transcript/internal/content"
	"github.com/kagewasm/kagewasm/transcript/internal/jsondoc"
)

const name = "openai"

// Format is the format of chat completions.
var Format = codec.Format{Name: name, Detect: detect, Read: read, Write: write}

var (
	// listKeys are the keys under which a document may hold its messages.
	listKeys    = []string{"messages", "traj"}
	docKeys     = []string{"messages", "traj", "model", "tools"}
	messageKeys = []string{"role", "content", "tool_calls", "tool_call_id", "name", "function_call", "tool_name",
		"images"}
)

func detect(f *codec.File) string {
	if f.Lined && hasOwnLines(f) {
		return ""
	}
	list, why := f.Body(f.ProbeDocument(), listKeys...)
	if why != "" {
		return why
	}
	if els := f.Elements(list); len(els) > 0 && !f.Probe(els[0], "the first message").Has("role") {
		if list == f.First {
			return `the first element has no "role"`
		}
		return `the first message has no "role"`
	}
	return ""
}

// hasOwnLines reports whether a file of one message a line has any that only
// this format has: what is common to both is read as neutral.
func hasOwnLines(f *codec.File) bool {
	if !f.Probe(f.First, "the line").Has("role") {
		return false
	}
	return slices.ContainsFunc(f.Source.Lines(0), func(at jsondoc.Span) bool {
		if !mayBeOwn(f.Data[at.Start:at.End]) || f.Check(at) != nil {
			return false
		}
		o := f.Probe(at, "the line")
		if o.Has("function_call") || o.Str("role") == "function" {
			return true
		}
		return o.Is("tool_calls", '[') && slices.ContainsFunc(o.List("tool_calls"), func(call jsondoc.Span) bool {
			return f.Probe(call, "a tool call").Is("function", '{')
		})
	})
}

// mayBeOwn reports whether a line holds one of the words by which it is told, at the beginning of a string, or a letter
// that may stand for one of theirs: most lines are passed over by that.
func mayBeOwn(line []byte) bool {
	return bytes.Contains(line, []byte(`"function`)) || bytes.Contains(line, []byte(`\u`))
}

func read(f *codec.File) *codec.Log {
	l := findMessages(f)
	l.Entry, l.Args = writeMessage, writeArgs
	readAnswer(l)
	var open waiting
	l.Each("the message", messageKeys, func(i int, o *jsondoc.Object) { readMessage(l, &open, i, o) })
	return l
}

// findMessages finds the messages, and what else the document says.
func findMessages(f *codec.File) *codec.Log {
	f.Inspect()
	if f.Lined && f.Kind(f.First) == '{' && f.Probe(f.First, "the line").Has("role") {
		return f.LineLog()
	}
	o := f.Document(docKeys...)
	if k := f.Kind(f.First); k != '[' && k != '{' {
		o.Fail(o.At.Start, hint, "%s", codec.NoList(listKeys...))
	}
	return f.BodyLog(o, hint, listKeys...)
}

const hint = `put the messages in a list under "messages"`

// readAnswer adds the message that a recorded response holds.
func readAnswer(l *codec.Log) {
	answer := l.Answer("choices", "model")
	if !answer.Is("choices", '[') {
		return
	}
	l.Model = answer.Str("model")
	if list := answer.List("choices"); len(list) > 0 && l.Kind(list[0]) == '{' {
		if choice := l.Probe(list[0], "the choice", "message"); choice.Is("message", '{') {
			l.Append([]jsondoc.Span{choice.Value("message")}, "", "")
		}
	}
	l.Note(answer.Err())
}

func readMessage(l *codec.Log, open *waiting, i int, o *jsondoc.Object) {
	role := o.Str("role")
	m := l.Add(i, abi.Message{Content: codec.Content(o, "content"), Name: o.Str("name")})
	m.Output = codec.SlotOf(i, o, "content")
	switch role {
	case "developer":
		m.Role = abi.RoleSystem
	case "function":
		m.Role, m.ToolCallID = abi.RoleTool, content.FunctionID(m.Name)
		return
	default:
		m.Role = codec.Role(o)
	}
	m.ToolCallID = o.Str("tool_call_id")
	open.result(m, o)
	withImages(m, o)
	if m.Role == abi.RoleUser {
		m.Kind = content.Framed(m.Content)
	}
	ReadCalls(m, i, o)
	open.call(m)
	if o.Value("function_call").OK() {
		f := o.Child(o.Value("function_call"), "function_call", "name", "arguments")
		function := f.Str("name")
		m.Call(i, f, content.FunctionID(function), function, "arguments")
	}
}

// ReadCalls reads the tool_calls of an object in record rec: functions with
// arguments, or custom tools with an input.
func ReadCalls(m *codec.Message, rec int, o *jsondoc.Object) {
	for _, at := range o.List("tool_calls") {
		call := o.Child(at, "a tool call", "id", "function", "custom")
		what, args := "function", "arguments"
		if call.Value("custom").OK() {
			what, args = "custom", "input"
		}
		body := call.Value(what)
		if !body.OK() {
			call.Fail(at.Start, `give it a "function" with "name" and "arguments"`, "a tool call without a function")
			return
		}
		f := call.Child(body, "the "+what+" of a tool call", "name", args)
		m.Call(rec, f, call.Str("id"), f.Str("name"), args)
	}
}

// writeMessage writes one message. Its id, time, kind and error mark have no
// place in the format.
func writeMessage(m *abi.Message) []byte {
	return writeWith(content.NewWireIDs(content.WireIDs{}), m, 0)
}

// writeWith writes message i of a list.
func writeWith(ids *content.WireIDs, m *abi.Message, i int) []byte {
	said := Content(m)
	if m.Role == abi.RoleTool {
		return jsondoc.Obj("role", "tool", "tool_call_id", ids.Result(m.ToolCallID),
			"name", jsondoc.Maybe(m.Name), "content", said)
	}
	var calls any
	if len(m.ToolCalls) > 0 {
		calls = Calls(m.ToolCalls, func(id string) string { return ids.Call(id, i) })
		if empty := string(said); empty == `""` || empty == "[]" {
			said = jsondoc.Null
		}
	}
	return jsondoc.Obj("role", string(m.Role), "name", jsondoc.Maybe(m.Name), "content", said, "tool_calls", calls)
}

// Content writes what a message says. The tool role takes text alone.
func Content(m *abi.Message) []byte {
	if !m.Content.IsParts() {
		return jsondoc.Quote(m.Text())
	}
	parts := form.Parts(m.Content)
	onlyText := !slices.ContainsFunc(m.Content.Parts(), func(p abi.Part) bool {
		_, isImage := content.ImageOf(p)
		return isImage || form.Own(p) != nil
	})
	if len(parts) > 0 && (m.Role == abi.RoleUser || onlyText && m.Role != abi.RoleTool) {
		return jsondoc.List(parts)
	}
	return jsondoc.Quote(content.Text(m.Content))
}

var form = content.Form{
	Text: content.TextPart,
	Own:  content.Own("image_url", "input_audio", "file", "refusal"),
	Image: func(img content.Image) []byte {
		if img.At() == "" {
			return nil
		}
		return jsondoc.Obj("type", "image_url", "image_url", jsondoc.Obj("url", img.At()))
	},
}

// Calls writes a list of tool calls, under the ids that id gives.
func Calls(calls []abi.ToolCall, id func(string) string) (list [][]byte) {
	for _, c := range calls {
		list = append(list, jsondoc.Obj("id", id(c.ID), "type", "function",
			"function", jsondoc.Obj("name", c.Name, "arguments", c.Arguments)))
	}
	return list
}

// SameID is for [Calls]: every call keeps its id.
func SameID(id string) string { return id }

// write writes a request body, one message a line.
func write(about codec.About, msgs []abi.Message) []byte {
	ids := content.NewWireIDs(content.WireIDs{Most: 40, Unique: true})
	var messages [][]byte
	for i := range msgs {
		messages = append(messages, writeWith(ids, &msgs[i], i))
	}
	tools := content.WriteTools(content.ToolsOf(about.Tools), name, func(t content.Tool) []byte {
		return jsondoc.Obj("type", "function", "function", jsondoc.Obj(t.Fields("parameters")...))
	})
	return append(jsondoc.Obj("model", jsondoc.Maybe(about.Model), "messages", jsondoc.Lines(messages),
		"tools", jsondoc.If(len(tools) > 0, tools)), '\n')
}
