// Package gemini is the format of the Gemini API: a request body with "contents",
// the list of contents alone, or a recording. Keys may be written in either case,
// functionCall or function_call.
//
// Each part of the system instruction is a system message. A user content is a
// message for each functionResponse and one for each run of other parts. Thoughts
// are thinking parts. A call with a thoughtSignature keeps its bytes, and so do
// the calls beside it. Calls without ids get the function's name for
// one, and responses without ids that of the call of their function that is next; more
// responses than calls answer the last one.
//
// What a function returned is the text under the response's one key ("output",
// "result"), or else the response as JSON. Under "error" it is the result of a
// failed call.
//
// The API refuses a call that follows other words of the model. Where a
// compaction would leave one, the words and the call become one content.
package gemini

import (
	"regexp"
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/transcript/internal/codec"
	"github.com/kagewasm/kagewasm/transcript/internal/content"
	"github.com/kagewasm/kagewasm/transcript/internal/jsondoc"
)

const name = "gemini"

// Format is the format of the Gemini API.
var Format = codec.Format{Name: name, Detect: detect, Read: read, Write: write}

var (
	docKeys     = []string{"contents", "systemInstruction", "system_instruction", "model", "tools"}
	contentKeys = []string{"role", "parts"}
)

func detect(f *codec.File) string {
	doc := f.ProbeDocument()
	list, why := f.Body(doc, "contents")
	if why != "" {
		return why
	}
	els := f.Elements(list)
	switch {
	case len(els) > 0 && (f.Kind(els[0]) != '{' || !f.Probe(els[0], "the first content").Is("parts", '[')):
		return `the first content has no "parts"`
	case len(els) == 0 && list == f.First:
		return "an empty list"
	}
	return ""
}

func read(f *codec.File) *codec.Log {
	o := f.Document(docKeys...)
	d := body{f.BodyLog(o, `put the contents in a list under "contents"`, "contents")}
	d.Entry, d.Args, d.Result, d.Join, d.Split = writeMessage, codec.ObjectArgs, WriteResult, d.join, true
	if tools := o.Value("tools"); o.Kind(tools) == '{' { // one alone
		d.Tools = jsondoc.List([][]byte{o.Bytes(tools)})
	}
	d.readSystem(o)
	d.readAnswer()
	r := &codec.BlockReader{Log: d.Log, Form: new(Parts).Read, Plain: true}
	d.Each("the content", contentKeys, func(i int, o *jsondoc.Object) { d.content(r, i, o) })
	r.CloseAnswer()
	return d.Log
}

// readSystem reads the system instruction: a content, a list of parts, or a
// text.
func (d body) readSystem(o *jsondoc.Object) {
	key := o.Either("systemInstruction", "system_instruction")
	parts := o.Value(key)
	if !parts.OK() {
		return
	}
	if o.Kind(parts) == '{' {
		parts = o.Probe(parts, "the system instruction", "parts").Value("parts")
	}
	var list jsondoc.Span
	contents := []abi.Content{{}}
	part := func(at jsondoc.Span) abi.Content {
		return content.FromParts([]abi.Part{readPart(o.Child(at, "a part", partKeys...))})
	}
	switch o.Kind(parts) {
	case '"':
		contents[0] = abi.Text(o.Unquote(parts))
	case '{':
		contents[0] = part(parts)
	case '[':
		list, contents = parts, nil
		for _, at := range o.Elements(parts) {
			contents = append(contents, part(at))
		}
	}
	d.Preface(o, key, list, contents...)
}

var modelInURI = regexp.MustCompile(`/models/([^/:?]+)`)

// readAnswer adds the content that a recorded response holds, and finds the
// model.
func (d body) readAnswer() {
	if !d.Exchange.OK() {
		return
	}
	exchange := d.Probe(d.Exchange, "the exchange")
	if uri := modelInURI.FindStringSubmatch(exchange.Str("uri")); uri != nil && d.Model == "" {
		d.Model = uri[1]
	}
	answer := d.Answer("candidates", "modelVersion")
	if !answer.Is("candidates", '[') {
		d.Note(exchange.Err())
		return
	}
	d.NoteModel(answer.Str("modelVersion"))
	if list := answer.List("candidates"); len(list) > 0 && d.Kind(list[0]) == '{' {
		said := answer.Child(list[0], "the candidate", "content").Value("content")
		if d.Kind(said) == '{' && d.Probe(said, "the content").Is("parts", '[') {
			d.Append([]jsondoc.Span{said}, "", "")
		}
	}
	d.Note(answer.Err())
}

// body is a body that can be written again.
type body struct{ *codec.Log }

// content reads one record.
func (d body) content(r *codec.BlockReader, i int, o *jsondoc.Object) {
	parts := o.ListAt("parts")
	switch role := o.Str("role"); role {
	case "model":
		r.CloseAnswer()
		if parts.OK() && len(d.Elements(parts)) > 0 {
			r.ReadAnswer(i, parts, o)
		} else {
			r.Start(i, abi.Message{Role: abi.RoleAssistant})
		}
	case "user", "function", "":
		r.ReadUser(i, o, "parts")
	default:
		o.Fail(o.At.Start, "use user or model", "role %s", jsondoc.Quoted(role))
	}
}

// join makes one content of the model's words and a call that came to follow them.
func (d body) join(items []jsondoc.Item) (out []jsondoc.Item) {
	for i := 0; i < len(items); {
		n := 0 // how many items are words
		for answer := d.answer(items, i); answer != nil && len(answer.ToolCalls) == 0; answer = d.answer(items, i+n) {
			n++
		}
		if n > 0 && d.answer(items, i+n) != nil && items[i+n].Rec-items[i].Rec > n {
			out = append(out, d.merge(items[i:i+n+1]))
			i += n + 1
			continue
		}
		n = max(n, 1)
		out = append(out, items[i:i+n]...)
		i += n
	}
	return out
}

// answer returns the message of item i if it is the model's and has parts.
func (d body) answer(items []jsondoc.Item, i int) *codec.Message {
	if i >= len(items) || items[i].Rec < 0 || !d.BlocksOf(items[i].Rec).OK() {
		return nil
	}
	if m := d.Messages[d.MessagesIn(items[i].Rec)[0]]; m.Role == abi.RoleAssistant {
		return m
	}
	return nil
}

// merge writes items as the first of them, with the parts of all.
func (d body) merge(items []jsondoc.Item) jsondoc.Item {
	one := items[0]
	end := d.BlocksOf(one.Rec).End - 1
	var text []byte
	for _, it := range items[1:] {
		inner := d.BlocksOf(it.Rec).Inner()
		text = d.Apply(append(text, ','), inner, jsondoc.Within(it.Edits, inner))
	}
	one.Edits = append(slices.Clone(one.Edits), jsondoc.Edit{At: jsondoc.Span{Start: end, End: end}, Text: text})
	return one
}
