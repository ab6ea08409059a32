package transcript

import (
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

// geminiCLI is a chat that the Gemini CLI saved: a document with a session id
// and entries under "messages". An entry of type user is a message of the user;
// one of type gemini is an answer, with its calls and, as messages that follow
// it, their results. Its thoughts are thinking parts. Entries of other types
// (info, error) are for the screen and stay where they are.
//
// A message's id is its entry's; that of a result has "#" and a number added.
// An answer and its results go together: of an entry of which anything stays,
// everything does.
type geminiCLI struct{}

func (geminiCLI) format() Format { return GeminiCLI }

var (
	cliDocKeys   = []string{"sessionId", "messages"}
	cliEntryKeys = []string{"id", "timestamp", "type", "content", "toolCalls", "model", "thoughts", systemMark}
	cliCallKeys  = []string{"id", "name", "args", "result", "status", "timestamp"}
)

func (geminiCLI) detect(src *source) string {
	if src.data[src.first.start] != '{' {
		return "not an object"
	}
	doc := src.object(src.first, "the document")
	if !doc.has("sessionId") || !doc.is("messages", '[') {
		return `no "sessionId" beside "messages"`
	}
	for _, at := range doc.list("messages") {
		if src.data[at.start] != '{' {
			return "an entry that is not an object"
		}
		if e := src.object(at, "the entry"); !e.is("type", '"') || e.has("role") || e.has("message") {
			return "entries of another kind"
		}
	}
	return ""
}

func (geminiCLI) decode(src *source) (*decoded, error) {
	o, err := src.document(cliDocKeys...)
	if err != nil {
		return nil, err
	}
	if !o.is("messages", '[') {
		o.fail(src.first.start, `give the document that the CLI saved, with its list "messages"`, `no list under "messages"`)
		return nil, o.err
	}
	list, _ := o.value("messages")
	doc := &recordDoc{src: src, layout: listOf(src, list), arg: objectArgument, result: geminiResult}
	doc.fresh = func(m *abi.Message) []byte { return (&cliWriter{time: noTime}).entry(m, nil) }
	d := &decoded{doc: doc, session: o.str("sessionId")}
	if o.err != nil {
		return nil, o.err
	}
	parts := &geminiParts{}
	r := &cliReader{blockReader{doc: doc, d: d, form: parts}, parts}
	r.begin, r.spoken = r.header, r.from
	for i, at := range doc.recs {
		e := src.object(at, "the entry", cliEntryKeys...)
		r.entry(i, e)
		if e.err != nil {
			return nil, e.err
		}
	}
	return d, nil
}

// cliReader makes messages of entries.
type cliReader struct {
	blockReader
	names *geminiParts
}

// object is the entry of record i, once more.
func (r *cliReader) object(i int) *object { return r.doc.src.object(r.doc.recs[i], "the entry") }

func (r *cliReader) header(i, nth int, m *abi.Message) {
	e := r.object(i)
	m.ID, m.Timestamp = ordinalID(e.str("id"), nth), e.scalar("timestamp")
}

func (r *cliReader) from(i int, m *abi.Message) {
	if m.Kind = framed(m.Content); r.object(i).flag(systemMark) {
		m.Role, m.Kind = abi.RoleSystem, ""
	}
}

func (r *cliReader) entry(i int, e *object) {
	content, ok := e.value("content")
	blocks := ok && e.src.data[content.start] == '['
	switch typ := e.str("type"); {
	case typ == "user" && blocks:
		r.user(i, content, e)
	case typ == "user":
		r.say(i, e.content("content"))
	case typ == "gemini" || typ == "model":
		r.reply(i, content, blocks, e)
	case typ == "":
		e.fail(e.at.start, "give it the type user, gemini or info", "an entry without a type")
	}
}

// reply reads an answer and the results of its calls.
func (r *cliReader) reply(i int, content span, blocks bool, e *object) {
	m := r.answer(i)
	if model := e.str("model"); model != "" {
		r.d.model = model
	}
	for _, at := range e.list("thoughts") {
		t := e.child(at, "a thought", "subject", "description")
		thought := strings.TrimSpace(t.str("subject") + "\n" + t.str("description"))
		r.parts = append(r.parts, abi.RawPart("thinking", new(builder).str("type", "thinking").str("thinking", thought).bytes()))
		e.adopt(t)
	}
	if blocks {
		r.answerBlocks(i, content, e)
	} else if text := e.str("content"); text != "" {
		r.parts = append(r.parts, abi.TextPart(text))
	}
	var objects []*object
	for _, at := range e.list("toolCalls") {
		c := e.child(at, "a tool call", cliCallKeys...)
		if c.err == nil && !c.has("name") {
			c.fail(at.start, "give it the name of a tool", "a tool call without a name")
		}
		if e.adopt(c); e.err != nil {
			return
		}
		m = &r.d.messages[r.latest]
		m.ToolCalls = append(m.ToolCalls, abi.ToolCall{ID: r.names.id(c, i), Name: c.str("name"), Arguments: c.arguments("args")})
		r.doc.at[r.latest].args = append(r.doc.at[r.latest].args, c.slot(i, "args"))
		objects = append(objects, c)
	}
	r.close()
	ids := m.ToolCalls
	for k, c := range objects {
		r.returned(i, ids[k].ID, c)
		e.adopt(c)
	}
}

// returned reads the result of a call, where it has one.
func (r *cliReader) returned(i int, id string, c *object) {
	if !c.is("result", '[') {
		return
	}
	for _, at := range c.list("result") {
		b, class := r.form.open(c, at)
		if c.adopt(b); class != blockResult || c.err != nil {
			continue
		}
		m, s := r.form.result(b, i)
		c.adopt(b)
		m.ToolCallID = id
		m.IsError = m.IsError || c.str("status") == "error"
		r.add(i, m)
		r.doc.at[len(r.doc.at)-1].content = s
		return // one result for each call; what else is there belongs to it
	}
}
