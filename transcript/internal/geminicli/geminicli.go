// Package geminicli is a chat that the Gemini CLI saved: a document with a session
// id and entries under "messages". An entry of type user is a message of the user.
// One of type gemini is an answer with its thoughts and calls, followed by the
// results of the calls. Entries of other types (info, error) are for the screen
// and stay.
//
// A message's id is its entry's; a result's has "#" and a number added. An answer
// and its results go together: an entry stays whole if any of it stays.
package geminicli

import (
	"cmp"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/transcript/internal/codec"
	"github.com/kagewasm/kagewasm/transcript/internal/content"
	"github.com/kagewasm/kagewasm/transcript/internal/gemini"
	"github.com/kagewasm/kagewasm/transcript/internal/jsondoc"
)

// Format is a chat of the Gemini CLI.
var Format = codec.Format{Name: "gemini-cli", Detect: detect, Read: read, Write: write}

var (
	docKeys   = []string{"sessionId", "messages"}
	entryKeys = []string{"id", "timestamp", "type", "content", "toolCalls", "model", "thoughts", codec.SystemMark}
	callKeys  = []string{"id", "name", "args", "result", "status", "timestamp"}
)

func detect(f *codec.File) string {
	if f.Kind(f.First) != '{' {
		return "not an object"
	}
	doc := f.ProbeDocument()
	if !doc.Has("sessionId") || !doc.Is("messages", '[') {
		return `no "sessionId" beside "messages"`
	}
	for _, at := range doc.List("messages") {
		if f.Kind(at) != '{' {
			return "an entry that is not an object"
		}
		if e := f.Probe(at, "the entry"); !e.Is("type", '"') || e.Has("role") || e.Has("message") {
			return "entries of another kind"
		}
	}
	return ""
}

func read(f *codec.File) *codec.Log {
	o := f.Document(docKeys...)
	if !o.Is("messages", '[') {
		o.Fail(f.First.Start, `give the document that the CLI saved, with its list "messages"`,
			"%s", codec.NoList("messages"))
	}
	l := f.ListLog(o.Value("messages"))
	l.Args, l.Result, l.Session = codec.ObjectArgs, gemini.WriteResult, o.Str("sessionId")
	l.Entry = func(m *abi.Message) []byte {
		return (&writer{time: codec.NoTime, Writer: gemini.Writer{}}).entry(m, nil)
	}
	r := &reader{BlockReader: codec.BlockReader{Log: l}}
	r.Form, r.Header, r.Speaker = r.parts.Read, r.begin, r.spoke
	l.Each("the entry", entryKeys, r.entry)
	return l
}

// reader makes messages of entries.
type reader struct {
	codec.BlockReader
	parts gemini.Parts
}

// around opens entry i again for what stands around its blocks. Faults there are
// passed over.
func (r *reader) around(i int) *jsondoc.Object { return r.Probe(r.Recs[i], "the entry") }

func (r *reader) begin(i, nth int, m *abi.Message) {
	e := r.around(i)
	m.ID, m.Timestamp = content.OrdinalID(e.Str("id"), nth), e.Scalar("timestamp")
}

func (r *reader) spoke(i int, m *abi.Message) {
	if m.Kind = content.Framed(m.Content); r.around(i).Flag(codec.SystemMark) {
		m.Role, m.Kind = abi.RoleSystem, ""
	}
}

func (r *reader) entry(i int, e *jsondoc.Object) {
	switch typ := e.Str("type"); {
	case typ == "user":
		r.ReadUser(i, e, "content")
	case typ == "gemini" || typ == "model":
		r.reply(i, e)
	case typ == "":
		e.Fail(e.At.Start, "give it the type user, gemini or info", "an entry without a type")
	}
}

// reply reads an answer and the results of its calls.
func (r *reader) reply(i int, e *jsondoc.Object) {
	m := r.StartAnswer(i)
	r.NoteModel(e.Str("model"))
	for _, at := range e.List("thoughts") {
		t := e.Child(at, "a thought", "subject", "description")
		r.AddPart(content.Thinking(strings.TrimSpace(t.Str("subject")+"\n"+t.Str("description")), ""))
	}
	if e.Is("content", '[') {
		r.ReadAnswer(i, e.Value("content"), e)
	} else if text := e.Str("content"); text != "" {
		r.AddPart(abi.TextPart(text))
	}
	var calls []*jsondoc.Object
	for _, at := range e.List("toolCalls") {
		c := e.Child(at, "a tool call", callKeys...)
		if !c.Has("name") {
			c.Fail(at.Start, "give it the name of a tool", "a tool call without a name")
		}
		m.Call(i, c, r.parts.ID(c, i), c.Str("name"), "args")
		calls = append(calls, c)
	}
	r.CloseAnswer()
	for k, c := range calls {
		r.returned(i, m.ToolCalls[k].ID, c)
	}
}

// returned reads the result of a call. Only the first counts.
func (r *reader) returned(i int, id string, c *jsondoc.Object) {
	if !c.Is("result", '[') {
		return
	}
	for _, at := range c.List("result") {
		if b := r.Form(c, at, i, false); b.Message != nil {
			b.Message.ToolCallID = id
			b.Message.IsError = b.Message.IsError || c.Str("status") == "error"
			r.Result(i, b)
			return
		}
	}
}

// writer writes entries as the Gemini CLI saves them.
type writer struct {
	gemini.Writer
	model, time string
}

// entry writes a message; results are those of its calls, by the call's index.
// A result that stands alone is an entry of the user's, as the API has it.
func (w *writer) entry(m *abi.Message, results map[int]*abi.Message) []byte {
	w.time = codec.TimeOf(m, w.time)
	typ, said, model := "user", any(m.Text()), ""
	switch {
	case m.Role == abi.RoleAssistant:
		typ, said, model = "gemini", content.Text(m.Content), w.model
	case m.Role == abi.RoleTool:
		said = [][]byte{w.Response(m)}
	case m.Role == abi.RoleSystem:
		said = content.Text(m.Content)
	case len(m.Content.Parts()) > 0:
		said = gemini.Spoken(m)
	}
	calls := w.calls(m, results)
	return jsondoc.Obj("id", m.ID, "timestamp", w.time, "type", typ, "content", said,
		"toolCalls", jsondoc.If(len(calls) > 0, calls), "model", jsondoc.Maybe(model),
		codec.SystemMark, jsondoc.If(m.Role == abi.RoleSystem, true))
}

func (w *writer) calls(m *abi.Message, results map[int]*abi.Message) (calls [][]byte) {
	if m.Role != abi.RoleAssistant {
		return nil
	}
	w.Note(m)
	for i, c := range m.ToolCalls {
		var result, status any
		if r := results[i]; r != nil {
			if result, status = [][]byte{w.Response(r)}, "success"; r.IsError {
				status = "error"
			}
		}
		calls = append(calls, jsondoc.Obj("id", c.ID, "name", c.Name, "args", content.ObjectArgs(c.Arguments),
			"result", result, "status", status, "timestamp", w.time))
	}
	return calls
}

// write writes a chat, one entry a line. A system message becomes a marked
// entry of the user's: the CLI saves no system prompt.
func write(about codec.About, msgs []abi.Message) []byte {
	w := &writer{model: about.Model, time: codec.NoTime, Writer: gemini.Writer{}}
	session, start := cmp.Or(about.Session, content.SessionUUID("", msgs)), w.time
	if len(msgs) > 0 {
		start = codec.TimeOf(&msgs[0], start)
	}
	var entries [][]byte
	for i := 0; i < len(msgs); {
		m := &msgs[i]
		var results map[int]*abi.Message
		if i++; m.Role == abi.RoleAssistant {
			results, i = follow(m, msgs, i)
		}
		entries = append(entries, w.entry(m, results))
	}
	return append(jsondoc.Obj("sessionId", session, "projectHash", "", "startTime", start,
		"lastUpdated", w.time, "messages", jsondoc.Lines(entries)), '\n')
}

// follow finds the results, from i on, that follow a message in the order of
// its calls, and returns where they end.
func follow(m *abi.Message, msgs []abi.Message, i int) (map[int]*abi.Message, int) {
	results := make(map[int]*abi.Message)
	for k := 0; k < len(m.ToolCalls) && i < len(msgs) && msgs[i].Role == abi.RoleTool; k++ {
		if m.ToolCalls[k].ID == msgs[i].ToolCallID {
			results[k] = &msgs[i]
			i++
		}
	}
	return results, i
}
