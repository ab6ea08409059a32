package transcript

import (
	"regexp"

	"github.com/kagewasm/kagewasm/abi"
)

// gemini is the format of the Gemini API: a request body with "contents", the
// list of contents alone, or a recording. Keys may be written in either case,
// functionCall or function_call.
//
// Each part of the system instruction is a system message. A user content is a
// message for each functionResponse and one for each run of other parts between
// them. Thoughts are thinking parts; a call with a thoughtSignature, and all
// calls beside it, stay as they are. Calls and responses without ids have the
// function's name for one, which pairs them.
//
// What a function returned is the text under the one key of the response where
// that is all there is ("output", "result"), and otherwise the response as JSON;
// under "error" it is the result of a call that failed.
//
// The API refuses a call that follows other words of the model. Where that would
// come to be, because what stood between went, both are one content.
type gemini struct{}

func (gemini) format() Format { return Gemini }

var (
	geminiDocKeys     = []string{"contents", "systemInstruction", "system_instruction", "model", "tools"}
	geminiContentKeys = []string{"role", "parts"}
)

func (gemini) detect(src *source) string {
	list := src.first
	if src.data[list.start] == '{' {
		doc := src.object(list, "the document")
		if !doc.is("contents", '[') {
			return `no list under "contents"`
		}
		list, _ = doc.value("contents")
	}
	if src.data[list.start] != '[' {
		return "neither a list nor an object"
	}
	els := src.elements(list)
	if len(els) > 0 && (src.data[els[0].start] != '{' || !src.object(els[0], "the first content").is("parts", '[')) {
		return `the first content has no "parts"`
	}
	if len(els) == 0 && list == src.first {
		return "an empty list"
	}
	return ""
}

func (c gemini) decode(src *source) (*decoded, error) {
	o, err := src.document(geminiDocKeys...)
	if err != nil {
		return nil, err
	}
	doc := &geminiDoc{recordDoc: recordDoc{src: src, fresh: geminiMessage, arg: objectArgument, result: geminiResult, split: true}}
	doc.join = doc.joined
	d := &decoded{doc: doc}
	list := src.first
	if src.data[list.start] == '{' {
		if list, err = c.body(o, d, &doc.recordDoc); err != nil {
			return nil, err
		}
	}
	if src.data[list.start] != '[' {
		return nil, src.bad(list.start, `put the contents in a list under "contents"`, "neither a list nor an object")
	}
	doc.layout = listOf(src, list)
	if err := c.answer(src, d, &doc.recordDoc); err != nil {
		return nil, err
	}
	r := &blockReader{doc: &doc.recordDoc, d: d, form: &geminiParts{}, plain: true}
	for i := range doc.recs {
		if err := doc.content(r, i); err != nil {
			return nil, err
		}
	}
	r.close()
	return d, nil
}

// body reads what stands around the contents, and returns their list.
func (gemini) body(o *object, d *decoded, doc *recordDoc) (span, error) {
	d.model = o.str("model")
	if tools, ok := o.value("tools"); ok {
		if d.tools = o.src.bytes(tools); d.tools[0] == '{' { // one alone
			d.tools = listJSON([][]byte{d.tools})
		}
	}
	doc.begins(o.geminiSystem(doc), d)
	if !o.is("contents", '[') {
		o.fail(o.at.start, `put the contents in a list under "contents"`, `no list under "contents"`)
	}
	list, _ := o.value("contents")
	return list, o.err
}

// geminiSystem reads the system instruction: a content, a list of parts, or a
// text.
func (o *object) geminiSystem(doc *recordDoc) []abi.Content {
	key := o.either("systemInstruction", "system_instruction")
	parts, ok := o.value(key)
	if !ok {
		return nil
	}
	doc.preface = preface{count: 1, field: o.whole(key)}
	if o.src.data[parts.start] == '{' {
		parts, _ = o.child(parts, "the system instruction", "parts").value("parts")
	}
	switch {
	case parts.end > 0 && o.src.data[parts.start] == '"':
		return []abi.Content{abi.Text(unquote(o.src.bytes(parts)))}
	case parts.end > 0 && o.src.data[parts.start] == '{':
		return []abi.Content{o.geminiContent([]span{parts})}
	case parts.end == 0 || o.src.data[parts.start] != '[':
		return []abi.Content{{}}
	}
	var contents []abi.Content
	for _, p := range o.src.elements(parts) {
		contents = append(contents, o.geminiContent([]span{p}))
	}
	doc.preface.list, doc.preface.count = parts, len(contents)
	return contents
}

// geminiContent is the content of a list of parts that are no calls.
func (o *object) geminiContent(list []span) abi.Content {
	var parts []abi.Part
	form := &geminiParts{}
	for _, at := range list {
		b, _ := form.open(o, at)
		p, _ := form.part(b)
		o.adopt(b)
		parts = append(parts, p)
	}
	return plain(parts)
}

var geminiModel = regexp.MustCompile(`/models/([^/:?]+)`)

// answer adds the content that a recorded response holds, and finds the model.
func (gemini) answer(src *source, d *decoded, doc *recordDoc) error {
	if !src.recorded {
		return nil
	}
	exchange := src.object(src.exchange, "the exchange")
	if uri := geminiModel.FindStringSubmatch(exchange.str("uri")); uri != nil && d.model == "" {
		d.model = uri[1]
	}
	answer, ok := src.answer("candidates", "modelVersion")
	if !ok || !answer.is("candidates", '[') {
		return exchange.err
	}
	if model := answer.str("modelVersion"); model != "" {
		d.model = model
	}
	if list := answer.list("candidates"); len(list) > 0 && src.data[list[0].start] == '{' {
		first := answer.child(list[0], "the candidate", "content")
		if content, ok := first.value("content"); ok && src.data[content.start] == '{' &&
			src.object(content, "the content").is("parts", '[') {
			doc.addApart([]span{content}, "", "")
		}
	}
	return answer.err
}

// geminiDoc is a body that can be written again.
type geminiDoc struct {
	recordDoc
	model []span // by record: the list of parts of one that is the model's
	calls []bool // by record: there is a call in it
}

// content reads one record.
func (d *geminiDoc) content(r *blockReader, i int) error {
	o := d.src.object(d.recs[i], "the content", geminiContentKeys...)
	parts, ok := o.value("parts")
	if ok && !o.isList("parts") || o.err != nil {
		return o.err
	}
	d.model, d.calls = append(d.model, span{}), append(d.calls, false)
	switch role := o.str("role"); {
	case role == "model":
		r.close()
		if !ok || len(d.src.elements(parts)) == 0 {
			r.add(i, abi.Message{Role: abi.RoleAssistant})
			return o.err
		}
		r.answerBlocks(i, parts, o)
		d.model[i] = parts
		d.calls[i] = len(r.d.messages[len(r.d.messages)-1].ToolCalls) > 0
	case role == "user", role == "function", role == "":
		if !ok {
			r.say(i, abi.Content{})
			return o.err
		}
		r.user(i, parts, o)
	default:
		o.fail(o.at.start, "use user or model", "role %s", quoted(role))
	}
	return o.err
}

// joined makes one content of words of the model's and a call of its that came
// to follow them.
func (d *geminiDoc) joined(items []item) []item {
	out := make([]item, 0, len(items))
	for i := 0; i < len(items); {
		n, whole := 0, true // how many items are words, and as they stood
		for ; d.holdsModel(items, i+n) && !d.calls[items[i+n].rec]; n++ {
			whole = whole && (n == 0 || items[i+n].rec == items[i+n-1].rec+1)
		}
		if n == 0 || !d.holdsModel(items, i+n) || whole && items[i+n].rec == items[i+n-1].rec+1 {
			n = max(n, 1)
			out = append(out, items[i:i+n]...)
			i += n
			continue
		}
		out = append(out, d.merge(items[i:i+n+1]))
		i += n + 1
	}
	return out
}

// holdsModel reports whether item i is a content of the model's, with parts.
func (d *geminiDoc) holdsModel(items []item, i int) bool {
	return i < len(items) && items[i].rec >= 0 && d.model[items[i].rec].end > 0
}

// merge writes items as the first of them, with the parts of all.
func (d *geminiDoc) merge(items []item) item {
	one := items[0]
	end := d.model[one.rec].end - 1
	var text []byte
	for _, it := range items[1:] {
		list := d.model[it.rec]
		inner := span{list.start + 1, list.end - 1}
		text = apply(append(text, ','), d.data, inner, within(it.edits, inner))
	}
	one.edits = append(append([]edit(nil), one.edits...), edit{span{end, end}, text})
	return one
}
