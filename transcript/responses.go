package transcript

import (
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

// responses is the format of OpenAI's Responses API: a request body with items
// under "input" (or a text alone), a response with items under "output", a list
// of items, or a recording.
//
// What the model answers is one message over several items, in this order: what
// it thought (reasoning) and the calls of tools that the server runs, as parts,
// then its words, then the calls it makes. So two answers in a row, the later of
// which only calls, are read as one. "instructions" is a system message.
//
// A compaction item is what the server made of everything before it, readable
// for the server alone: a compaction_summary message. Requests need not repeat
// what stands before it; where they do, it stays a message like the others.
//
// Message ids are those of the items.
type responses struct{}

func (responses) format() Format { return OpenAIResponses }

var (
	responsesDocKeys  = []string{"input", "output", "instructions", "model", "tools", "object", "conversation"}
	responsesItemKeys = []string{"type", "role", "content", "id", "call_id", "name", "arguments", "input", "output", "status"}
	// responsesOnly are types of items that no other format has.
	responsesOnly = []string{"function_call", "function_call_output", "reasoning", "compaction", "compaction_summary",
		"custom_tool_call", "custom_tool_call_output", "item_reference", "local_shell_call", "computer_call", "web_search_call"}
)

func (c responses) detect(src *source) string {
	switch src.data[src.first.start] {
	case '[':
		if src.lines {
			return "not a list of items"
		}
		for _, at := range src.elements(src.first) {
			if src.data[at.start] != '{' {
				return "an item that is not an object"
			}
			if typ := src.object(at, "the item"); slices.Contains(responsesOnly, typ.str("type")) && !typ.has("payload") {
				return ""
			}
		}
		return "no item that only this format has"
	case '{':
		o := src.object(src.first, "the document")
		if key := itemsKey(o); key == "input" || key == "output" && strings.HasPrefix(o.str("object"), "response") {
			return ""
		}
		return `no items under "input" or "output"`
	}
	return "neither a list nor an object"
}

// itemsKey is the key under which a document holds its items.
func itemsKey(o *object) string {
	switch {
	case o.is("input", '['):
		for _, at := range o.list("input") {
			if it := o.child(at, "the item"); !it.has("type") && !it.has("role") {
				return ""
			}
		}
		return "input"
	case o.is("input", '"') && !o.has("role") && !o.has("messages") && (o.has("model") || o.has("instructions")):
		return "input"
	case o.is("output", '['):
		return "output"
	}
	return ""
}

func (c responses) decode(src *source) (*decoded, error) {
	o, err := src.document(responsesDocKeys...)
	if err != nil {
		return nil, err
	}
	doc := &recordDoc{src: src, fresh: responsesMessage, arg: textArgument, result: responsesOutput}
	d := &decoded{doc: doc}
	switch src.data[src.first.start] {
	case '[':
		doc.layout = listOf(src, src.first)
	case '{':
		if doc.layout, err = c.body(o, d, doc); err != nil {
			return nil, err
		}
	default:
		return nil, src.bad(src.first.start, `put the items in a list under "input"`, "neither a list nor an object")
	}
	if answer, ok := src.answer(responsesDocKeys...); ok && answer.is("output", '[') {
		doc.addApart(answer.list("output"), "", "")
		d.model = answer.str("model")
	}
	r := itemReader{doc: doc, d: d}
	for i := range doc.recs {
		if err := r.record(i); err != nil {
			return nil, err
		}
	}
	r.close()
	return d, nil
}

// body reads what stands around the items, and where they are.
func (responses) body(o *object, d *decoded, doc *recordDoc) (layout, error) {
	src := o.src
	d.model = o.str("model")
	if tools, ok := o.value("tools"); ok {
		d.tools = src.bytes(tools)
	}
	switch c := o.is("conversation", '{'); {
	case c:
		at, _ := o.value("conversation")
		d.session = o.child(at, "the conversation").str("id")
	case o.is("conversation", '"'):
		d.session = o.str("conversation")
	}
	if o.is("instructions", '"') {
		doc.preface = preface{count: 1, field: o.whole("instructions")}
		doc.begins([]abi.Content{abi.Text(o.str("instructions"))}, d)
	}
	key := itemsKey(o)
	if key == "" {
		o.fail(o.at.start, `put the items in a list under "input"`, `no items under "input" or "output"`)
		return layout{}, o.err
	}
	at, _ := o.value(key)
	if src.data[at.start] == '[' {
		return listOf(src, at), o.err
	}
	text := layout{data: src.data, frame: src.frame(), region: at, sep: []byte(","), bare: true}
	text.addApart([]span{at}, `{"role":"user","content":`, "}")
	return text, o.err
}
