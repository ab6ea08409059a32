package transcript

import (
	"slices"

	"github.com/kagewasm/kagewasm/abi"
)

// anthropic is the format of the Messages API: a request body, its list of
// messages alone, or a recording. Content is read as in Claude Code's logs.
// Each block of "system" is a system message. The format has no ids, times and
// kinds.
//
// A compaction block is the summary that the server made of everything before
// it, which the model no longer sees: it is a compaction_summary message of its
// own, and what stands after it in the same message another one. Should a new
// message come to stand before it, the block is written as text instead, or the
// new message would not be seen either.
type anthropic struct{}

func (anthropic) format() Format { return Anthropic }

var (
	anthropicDocKeys     = []string{"messages", "system", "model", "tools"}
	anthropicMessageKeys = []string{"role", "content"}
	// anthropicMarks are keys of a body that no other format with a list of
	// messages has; anthropicBlocks are such types of a block.
	anthropicMarks  = []string{"system", "thinking", "anthropic_version", "anthropic_beta", "stop_sequences", "context_management", "mcp_servers"}
	anthropicBlocks = []string{"tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use", "compaction", "image", "document"}
)

func (c anthropic) detect(src *source) string {
	list, marked := src.first, false
	if src.data[list.start] == '{' {
		doc := src.object(src.first, "the document")
		if !doc.is("messages", '[') {
			return `no list under "messages"`
		}
		list, _ = doc.value("messages")
		marked = slices.ContainsFunc(anthropicMarks, doc.has) || hasInputSchema(doc)
	}
	if src.data[list.start] != '[' {
		return "neither a list nor an object"
	}
	for _, at := range src.elements(list) {
		if src.data[at.start] != '{' {
			return "a message that is not an object"
		}
		m := src.object(at, "the message")
		if r := m.str("role"); r != "user" && r != "assistant" || m.has("tool_calls") || m.has("function_call") {
			return "a message of chat completions"
		}
		marked = marked || hasClaudeBlock(m)
	}
	if !marked {
		return "nothing in it that only the Messages API has"
	}
	return ""
}

func hasInputSchema(doc *object) bool {
	if !doc.is("tools", '[') {
		return false
	}
	for _, at := range doc.list("tools") {
		if t := doc.child(at, "a tool"); t.has("input_schema") {
			return true
		}
	}
	return false
}

func hasClaudeBlock(m *object) bool {
	if !m.is("content", '[') {
		return false
	}
	for _, at := range m.list("content") {
		if b := m.child(at, "a block"); slices.Contains(anthropicBlocks, b.str("type")) {
			return true
		}
	}
	return false
}

func (c anthropic) decode(src *source) (*decoded, error) {
	o, err := src.document(anthropicDocKeys...)
	if err != nil {
		return nil, err
	}
	doc := &anthropicDoc{recordDoc: recordDoc{src: src, fresh: anthropicMessage, arg: objectArgument, split: true}}
	d := &decoded{doc: doc}
	r := &blockReader{doc: &doc.recordDoc, d: d, form: claudeBlocks{}}
	list := src.first
	if src.data[list.start] == '{' {
		if list, err = c.body(o, d, &doc.recordDoc); err != nil {
			return nil, err
		}
	}
	if src.data[list.start] != '[' {
		return nil, src.bad(list.start, `put the messages in a list under "messages"`, "neither a list nor an object")
	}
	doc.layout = listOf(src, list)
	if answer, ok := src.answer("content", "model"); ok && answer.is("content", '[') {
		content, _ := answer.value("content")
		doc.addApart([]span{content}, `{"role":"assistant","content":`, "}")
		d.model = answer.str("model")
	}
	if err := c.messages(r, doc); err != nil {
		return nil, err
	}
	doc.compactions = r.summaries
	return d, nil
}

// body reads what stands around the messages, and returns their list.
func (anthropic) body(o *object, d *decoded, doc *recordDoc) (span, error) {
	d.model = o.str("model")
	if tools, ok := o.value("tools"); ok {
		d.tools = o.src.bytes(tools)
	}
	if !o.is("messages", '[') {
		o.fail(o.at.start, `put the messages in a list under "messages"`, `no list under "messages"`)
	}
	at, ok := o.value("system")
	if !ok {
		list, _ := o.value("messages")
		return list, o.err
	}
	doc.preface = preface{count: 1, field: o.whole("system")}
	var contents []abi.Content
	if o.is("system", '[') {
		blocks := o.src.elements(at)
		doc.preface.count, doc.preface.list = len(blocks), at
		for _, b := range blocks {
			contents = append(contents, plain(o.parts([]span{b}).Parts()))
		}
	} else {
		contents = append(contents, abi.Text(o.str("system")))
	}
	doc.begins(contents, d)
	list, _ := o.value("messages")
	return list, o.err
}

func (anthropic) messages(r *blockReader, doc *anthropicDoc) error {
	for i, at := range doc.recs {
		role, content, m := "assistant", at, &object{src: doc.src, at: at}
		if i < doc.inside() {
			m = doc.src.object(at, "the message", anthropicMessageKeys...)
			content, _ = m.raw("content")
			if role = m.str("role"); role != "user" && role != "assistant" {
				m.fail(at.start, `use user or assistant; the system prompt stands under "system"`, "role %s", quoted(role))
			}
		}
		blocks := m.err == nil && content.end > 0 && doc.src.data[content.start] == '['
		switch {
		case role == "user" && blocks:
			r.user(i, content, m)
		case role == "user":
			r.say(i, m.content("content"))
		case blocks && len(doc.src.elements(content)) > 0:
			r.close()
			r.answerBlocks(i, content, m)
		default:
			r.close()
			r.add(i, abi.Message{Role: abi.RoleAssistant, Content: m.content("content")})
		}
		if m.err != nil {
			return m.err
		}
	}
	r.close()
	return nil
}

// anthropicDoc is a body that can be written again.
type anthropicDoc struct {
	recordDoc
	compactions []summaryBlock
}

func (d *anthropicDoc) rewrite(changes []change) []byte {
	w := d.begin(changes)
	for _, c := range d.compactions {
		if w.kept[c.msg] && len(w.insert) > 0 && w.insert[0].next <= c.msg {
			w.edits[c.rec] = append(w.edits[c.rec], edit{c.at, textPart(said(c.text))})
		}
	}
	return w.finish()
}
