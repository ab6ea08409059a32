package transcript

import "github.com/kagewasm/kagewasm/abi"

// openAI is the format of chat completions: a list of messages, a document or
// request body with such a list, or one message a line. Roles system and
// developer are both system. The older function_call and role function are
// read too; as they have no ids, a call and its result get the function's name
// for one, which pairs them.
//
// The format has no ids, times and kinds. A user message that stands in a
// frame of [abi.Fence] has the kind that the frame names.
type openAI struct{}

func (openAI) format() Format { return OpenAI }

// openAILists are the keys under which a document may hold its messages.
var openAILists = []string{"messages", "traj"}

var (
	openAIDocKeys     = []string{"messages", "traj", "model", "tools"}
	openAIMessageKeys = []string{"role", "content", "tool_calls", "tool_call_id", "name", "function_call"}
)

func (openAI) detect(src *source) string {
	switch {
	case src.lines && hasOpenAILines(src):
		return ""
	case src.data[src.first.start] == '[':
		els := src.elements(src.first)
		if len(els) > 0 && !src.object(els[0], "the first element").has("role") {
			return `the first element has no "role"`
		}
		return ""
	case src.data[src.first.start] != '{':
		return "neither a list nor an object"
	}
	list, ok := openAIList(src.object(src.first, "the document"))
	if !ok {
		return `no list under "messages" or "traj"`
	}
	if els := src.elements(list); len(els) > 0 && !src.object(els[0], "the first message").has("role") {
		return `the first message has no "role"`
	}
	return ""
}

func openAIList(doc *object) (span, bool) {
	for _, key := range openAILists {
		if doc.is(key, '[') {
			at, ok := doc.value(key)
			return at, ok
		}
	}
	return span{}, false
}

// hasOpenAILines reports whether a file of one message a line has any that
// only this format has: what is common to both is read as neutral.
func hasOpenAILines(src *source) bool {
	if !src.object(src.first, "the line").has("role") {
		return false
	}
	for _, at := range src.split(0) {
		if src.check(at) != nil {
			continue
		}
		o := src.object(at, "the line")
		if role := o.str("role"); o.has("function_call") || role == "developer" || role == "function" {
			return true
		}
		if !o.is("tool_calls", '[') {
			continue
		}
		for _, call := range o.list("tool_calls") {
			if src.object(call, "a tool call").is("function", '{') {
				return true
			}
		}
	}
	return false
}

func (c openAI) decode(src *source) (*decoded, error) {
	d := &decoded{}
	doc := &recordDoc{src: src, fresh: openAIMessage, arg: textArgument}
	d.doc = doc
	var err error
	if doc.layout, err = c.layout(src, d); err != nil {
		return nil, err
	}
	if err := c.answer(src, d, doc); err != nil {
		return nil, err
	}
	for i, at := range doc.recs {
		if src.lines {
			if err := src.check(at); err != nil {
				return nil, err
			}
		}
		o := src.object(at, "the message", openAIMessageKeys...)
		m, s := openAIRecord(o, i)
		if o.err != nil {
			return nil, o.err
		}
		d.messages = append(d.messages, m)
		doc.add(i, s)
	}
	return d, nil
}

// answer adds the message that a recorded response holds.
func (openAI) answer(src *source, d *decoded, doc *recordDoc) error {
	answer, ok := src.answer("choices", "model")
	if !ok || !answer.is("choices", '[') {
		return nil
	}
	d.model = answer.str("model")
	if list := answer.list("choices"); len(list) > 0 && src.data[list[0].start] == '{' {
		if choice := src.object(list[0], "the choice", "message"); choice.is("message", '{') {
			message, _ := choice.value("message")
			doc.addApart([]span{message}, "", "")
		}
	}
	return answer.err
}

// layout finds the messages, and what else the document says.
func (openAI) layout(src *source, d *decoded) (layout, error) {
	if err := src.look(); err != nil {
		return layout{}, err
	}
	if src.data[src.first.start] == '{' && src.lines && src.object(src.first, "the line").has("role") {
		return linesOf(src), nil
	}
	o, err := src.document(openAIDocKeys...)
	if err != nil {
		return layout{}, err
	}
	if src.data[src.first.start] == '[' {
		return listOf(src, src.first), nil
	}
	if list, ok := openAIList(o); ok {
		d.model = o.str("model")
		if tools, ok := o.value("tools"); ok {
			d.tools = src.bytes(tools)
		}
		return listOf(src, list), o.err
	}
	o.fail(o.at.start, `put the messages in a list under "messages"`, `no list under "messages" or "traj"`)
	return layout{}, o.err
}

// openAIRecord reads one message.
func openAIRecord(o *object, rec int) (m abi.Message, s slots) {
	role := o.str("role")
	m.Content = o.content("content")
	m.Name = o.str("name")
	s.content = o.slot(rec, "content")
	switch role {
	case "developer":
		m.Role = abi.RoleSystem
	case "function":
		m.Role, m.ToolCallID = abi.RoleTool, legacyCall(m.Name)
		return m, s
	default:
		m.Role = o.role()
	}
	m.ToolCallID = o.str("tool_call_id")
	if m.Role == abi.RoleUser {
		m.Kind = framed(m.Content)
	}
	for _, at := range o.list("tool_calls") {
		o.openAICall(at, rec, &m, &s)
	}
	if at, ok := o.value("function_call"); ok {
		f := o.child(at, "function_call", "name", "arguments")
		name := f.str("name")
		m.ToolCalls = append(m.ToolCalls, abi.ToolCall{ID: legacyCall(name), Name: name, Arguments: f.arguments("arguments")})
		s.args = append(s.args, f.slot(rec, "arguments"))
		o.adopt(f)
	}
	return m, s
}

func legacyCall(name string) string { return "function:" + name }

// openAICall reads one tool call: a function with arguments, or a custom tool
// with an input.
func (o *object) openAICall(at span, rec int, m *abi.Message, s *slots) {
	call := o.child(at, "a tool call", "id", "function", "custom")
	what, args := "function", "arguments"
	if _, ok := call.value("custom"); ok {
		what, args = "custom", "input"
	}
	body, ok := call.value(what)
	if !ok {
		call.fail(at.start, `give it a "function" with "name" and "arguments"`, "a tool call without a function")
		o.adopt(call)
		return
	}
	f := call.child(body, "the "+what+" of a tool call", "name", args)
	m.ToolCalls = append(m.ToolCalls, abi.ToolCall{ID: call.str("id"), Name: f.str("name"), Arguments: f.arguments(args)})
	s.args = append(s.args, f.slot(rec, args))
	call.adopt(f)
	o.adopt(call)
}
