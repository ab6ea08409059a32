// Package responses is the format of OpenAI's Responses API: a request body with
// items under "input" (or a text alone), a response with items under "output", a
// list of items, or a recording.
//
// An answer of the model is one message over several items: its reasoning and the
// calls of tools that the server runs, then its words, then its calls. So two
// answers in a row are read as one if the later only calls. "instructions" is a
// system message.
//
// A compaction item is the server's summary of everything before it, readable for
// the server alone: a compaction_summary message. Messages before it stay messages
// like the others. Message ids are those of the items.
package responses

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/transcript/internal/codec"
	"github.com/kagewasm/kagewasm/transcript/internal/content"
	"github.com/kagewasm/kagewasm/transcript/internal/jsondoc"
)

const name = "openai-responses"

// Format is the format of the Responses API.
var Format = codec.Format{Name: name, Detect: detect, Read: read, Write: write}

var (
	docKeys  = []string{"input", "output", "instructions", "model", "tools", "object", "conversation"}
	itemKeys = []string{"type", "role", "content", "id", "call_id", "name", "arguments", "input", "output", "status"}
	// ownTypes are types of items that no other format has.
	ownTypes = []string{"function_call", "function_call_output", "reasoning", "compaction", "compaction_summary",
		"custom_tool_call", "custom_tool_call_output", "item_reference", "local_shell_call", "computer_call",
		"web_search_call"}
)

func detect(f *codec.File) string {
	switch f.Kind(f.First) {
	case '[':
		if f.Lined {
			return "not a list of items"
		}
		for _, at := range f.Elements(f.First) {
			if f.Kind(at) != '{' {
				return "an item that is not an object"
			}
			if o := f.Probe(at, "the item"); slices.Contains(ownTypes, o.Str("type")) && !o.Has("payload") {
				return ""
			}
		}
		return "no item that only this format has"
	case '{':
		o := f.ProbeDocument()
		if key := itemsKey(o); key == "input" || key == "output" && strings.HasPrefix(o.Str("object"), "response") {
			return ""
		}
		return noItems
	}
	return "neither a list nor an object"
}

const noItems = `no items under "input" or "output"`

// itemsKey is the key under which a document holds its items.
func itemsKey(o *jsondoc.Object) string {
	switch {
	case o.Is("input", '['):
		if isItems(o, o.List("input")) {
			return "input"
		}
		return ""
	case o.Is("input", '"') && !o.Has("role") && !o.Has("messages") && (o.Has("model") || o.Has("instructions")):
		return "input"
	case o.Is("output", '['):
		return "output"
	}
	return ""
}

// isItems reports whether a list holds items. Some may be texts, but not all of them:
// that is what embeddings are made of.
func isItems(o *jsondoc.Object, list []jsondoc.Span) bool {
	texts := 0
	for _, at := range list {
		if o.Kind(at) == '"' {
			texts++
		} else if it := o.Probe(at, "the item"); !it.Has("type") && !it.Has("role") {
			return false
		}
	}
	return texts == 0 || texts < len(list)
}

func read(f *codec.File) *codec.Log {
	o := f.Document(docKeys...)
	about := readAbout(o)
	l := findItems(f, o)
	l.About, l.Entry, l.Args, l.Result = about, writeMessage, codec.TextArgs, Output
	if o.Is("instructions", '"') {
		l.Preface(o, "instructions", jsondoc.Span{}, abi.Text(o.Str("instructions")))
	}
	if answer := f.Answer(docKeys...); answer.Is("output", '[') {
		l.Append(answer.List("output"), "", "")
		l.Model = answer.Str("model")
	}
	r := itemReader{BlockReader: codec.BlockReader{Log: l}}
	for i := range l.Recs {
		if l.Err() == nil {
			r.record(i)
		}
	}
	r.CloseAnswer()
	return l
}

// findItems finds the items: the document itself, a list in it, or a text that
// stands in the place of one.
func findItems(f *codec.File, o *jsondoc.Object) *codec.Log {
	list, why := f.First, "neither a list nor an object"
	if f.Kind(list) == '{' {
		list, why = jsondoc.Span{}, noItems
		if key := itemsKey(o); key != "" {
			list = o.Value(key)
		}
		if f.Kind(list) == '"' {
			return f.ValueLog(list, `{"role":"user","content":`, "}")
		}
	}
	if f.Kind(list) != '[' {
		o.Fail(o.At.Start, `put the items in a list under "input"`, "%s", why)
		list = jsondoc.Span{}
	}
	return f.ListLog(list)
}

// readAbout reads what stands around the items.
func readAbout(o *jsondoc.Object) codec.About {
	about := codec.ReadAbout(o)
	switch {
	case o.Is("conversation", '{'):
		about.Session = o.Probe(o.Value("conversation"), "the conversation").Str("id")
	case o.Is("conversation", '"'):
		about.Session = o.Str("conversation")
	}
	return about
}

// itemReader makes messages of items.
type itemReader struct {
	codec.BlockReader
	spoken bool // the open answer has words or calls already
}

func (r *itemReader) record(i int) {
	at := r.Recs[i]
	if r.Kind(at) == '"' { // an input of text alone
		text := abi.Text(r.Unquote(at))
		r.Add(i, abi.Message{Role: abi.RoleUser, Content: text, Kind: content.Framed(text)})
		return
	}
	o := r.Open(at, "the item", itemKeys...)
	switch typ := o.Str("type"); {
	case typ == "message", typ == "" && o.Has("role"):
		r.message(i, o)
	case IsCompaction(typ):
		r.CloseAnswer()
		part := abi.Parts(abi.RawPart(typ, r.Bytes(at)))
		r.Add(i, abi.Message{ID: o.Str("id"), Role: abi.RoleUser, Kind: abi.KindSummary, Content: part})
	case strings.HasSuffix(typ, "_output") && o.Has("call_id"):
		r.CloseAnswer()
		r.output(i, o)
	case typ == "":
		o.Fail(at.Start, `give it a "type", or a "role" and a "content"`, "an item without a type")
	default:
		r.answer(i, typ, o)
	}
}

func (r *itemReader) output(i int, o *jsondoc.Object) {
	m := r.Add(i, abi.Message{ID: o.Str("id"), Role: abi.RoleTool, ToolCallID: o.Str("call_id")})
	m.Output = codec.SlotOf(i, o, "output")
	if o.Is("output", '{') { // a screenshot
		m.Output.Fixed = true
		m.Content = abi.Parts(codec.Part(o, o.Value("output")))
	} else {
		m.Content = Content(o, "output")
	}
}

// join makes item i a part of the open answer, or of a new one.
func (r *itemReader) join(i int, o *jsondoc.Object, begins bool) {
	if r.Answering() != nil && !begins {
		r.Continue(i, r.Answering())
		return
	}
	r.StartAnswer(i).ID = o.Str("id")
	r.spoken = false
}

func (r *itemReader) message(i int, o *jsondoc.Object) {
	role := o.Str("role")
	said := Content(o, "content")
	if role == "assistant" {
		r.join(i, o, r.spoken)
		if r.spoken = true; said.IsParts() {
			r.AddPart(said.Parts()...)
		} else {
			r.AddPart(abi.TextPart(said.Text()))
		}
		return
	}
	r.CloseAnswer()
	m := r.Add(i, abi.Message{ID: o.Str("id"), Role: abi.RoleSystem, Content: said})
	if role != "developer" {
		if m.Role = codec.Role(o); m.Role == abi.RoleTool {
			o.Fail(o.At.Start, "write a result as an item of type function_call_output", "role %s", jsondoc.Quoted(role))
		}
	}
	if m.Role == abi.RoleUser {
		m.Kind = content.Framed(said)
	}
}

// answer reads any other item: a call, or a part of an answer.
func (r *itemReader) answer(i int, typ string, o *jsondoc.Object) {
	isCall := o.Has("call_id")
	r.join(i, o, !isCall && r.spoken)
	if !isCall {
		r.AddPart(abi.RawPart(typ, o.Bytes(o.At)))
		return
	}
	call := abi.ToolCall{ID: o.Str("call_id"), Name: cmp.Or(o.Str("name"), typ)} // or a tool of the provider's
	args := "arguments"
	for _, key := range []string{"input", "action", "operation"} {
		args = o.Either(args, key)
	}
	call.Arguments = codec.Arguments(o, args)
	at := codec.SlotOf(i, o, args)
	at.Fixed = !at.Text && !at.Missing()
	r.Answering().CallAt(at, call)
	r.spoken = true
}

// Content reads a text, or a list of parts with texts of several types.
func Content(o *jsondoc.Object, key string) abi.Content {
	c := codec.Content(o, key)
	if !c.IsParts() {
		return c
	}
	parts := slices.Clone(c.Parts())
	for i, p := range parts {
		if p.Type == "input_text" || p.Type == "output_text" || p.Type == "text" {
			parts[i] = abi.TextPart(p.Text)
		}
	}
	return abi.Parts(parts...)
}

// IsCompaction reports whether items of a type are a compaction of the server's.
func IsCompaction(typ string) bool {
	return typ == "compaction" || typ == "compaction_summary" || typ == "context_compaction"
}
