package transcript

import (
	"bytes"

	"github.com/kagewasm/kagewasm/abi"
)

// sweAgent is the .traj of SWE-agent: a document whose "history" is what the
// model saw, a message each. The steps under "trajectory" tell the same once
// more with the environment's answers; nothing there is read or changed.
//
// A tool message answers the first of its tool_call_ids. In sessions without
// tool calls the environment answers in user messages of type observation:
// they have the kind console_output, but for the first, which is the task.
// Where that goes, the next one is written with its kind. Demonstrations are
// meta. Other kinds stand in the key "kind", which SWE-agent passes over.
type sweAgent struct{}

func (sweAgent) format() Format { return SWEAgent }

func (sweAgent) detect(src *source) string {
	if src.data[src.first.start] != '{' {
		return "not an object"
	}
	o := src.object(src.first, "the document")
	if !o.is("history", '[') {
		return `no list under "history"`
	}
	if els := o.list("history"); len(els) == 0 || !src.object(els[0], "the first message").has("role") {
		return `the first message under "history" has no "role"`
	}
	return ""
}

var (
	sweKeys        = []string{"history", "replay_config"}
	sweMessageKeys = []string{"role", "content", "tool_calls", "tool_call_ids", "is_demo", "message_type", "kind"}
)

func (sweAgent) decode(src *source) (*decoded, error) {
	o, err := src.document(sweKeys...)
	if err != nil {
		return nil, err
	}
	if !o.is("history", '[') {
		o.fail(o.at.start, `put the messages in a list under "history"`, `no list under "history"`)
		return nil, o.err
	}
	list, _ := o.value("history")
	doc := &sweDoc{recordDoc: recordDoc{src: src, layout: listOf(src, list), fresh: sweMessage, arg: textArgument}}
	d := &decoded{doc: doc}
	o.sweConfig(d)
	task := false
	for i, at := range doc.recs {
		m := src.object(at, "the message", sweMessageKeys...)
		msg, s := sweRecord(m, i, task)
		if m.err != nil {
			return nil, m.err
		}
		says := sweSays{observed: m.sweObservation(), kind: m.slot(i, "kind")}
		says.implied = says.observed && msg.Kind == abi.KindConsoleOutput && !m.has("kind")
		task = task || says.observed
		doc.says = append(doc.says, says)
		d.messages = append(d.messages, msg)
		doc.add(i, s)
	}
	return d, o.err
}

// sweConfig reads the model and the task's id from what SWE-agent was run
// with. Some versions write it as a string; it says nothing then.
func (o *object) sweConfig(d *decoded) {
	in := func(o *object, key string) *object {
		if o == nil || !o.is(key, '{') {
			return nil
		}
		at, _ := o.value(key)
		return o.src.object(at, key)
	}
	config := in(o, "replay_config")
	if task := in(config, "problem_statement"); task != nil && task.is("id", '"') {
		d.session = task.str("id")
	}
	if model := in(in(config, "agent"), "model"); model != nil && model.is("name", '"') {
		d.model = model.str("name")
	}
}

// sweObservation reports whether a message is the environment's in the role of
// the user.
func (o *object) sweObservation() bool {
	return o.str("role") == "user" && o.str("message_type") == "observation" && !o.flag("is_demo")
}

// sweRecord reads one message. task says that the task stood before.
func sweRecord(o *object, rec int, task bool) (m abi.Message, s slots) {
	m = abi.Message{Role: o.role(), Content: o.content("content"), Kind: abi.Kind(o.str("kind"))}
	s.content = o.slot(rec, "content")
	typ, demo := o.str("message_type"), o.flag("is_demo")
	switch {
	case m.Role == abi.RoleTool:
		if ids := o.list("tool_call_ids"); len(ids) > 0 && o.src.data[ids[0].start] == '"' {
			m.ToolCallID = unquote(o.src.bytes(ids[0]))
		}
	case m.Role != abi.RoleUser || m.Kind != "":
	case framed(m.Content) != "":
		m.Kind = framed(m.Content)
	case demo || typ == "demonstration":
		m.Kind = abi.KindMeta
	case task && o.sweObservation():
		m.Kind = abi.KindConsoleOutput
	}
	for _, at := range o.list("tool_calls") {
		o.openAICall(at, rec, &m, &s)
	}
	return m, s
}

// sweDoc is a history that can be written again.
type sweDoc struct {
	recordDoc
	says []sweSays // by message
}

// sweSays is whether a message is the environment's in the role of the user,
// whether its place alone says its kind, and where the kind would go.
type sweSays struct {
	observed, implied bool
	kind              slot
}

func (d *sweDoc) rewrite(changes []change) []byte {
	w := d.begin(changes)
	for m, says := range d.says {
		if !w.kept[m] || !says.observed {
			continue
		}
		if says.implied {
			w.edits[m] = append(w.edits[m], says.kind.put(quote(string(abi.KindConsoleOutput))))
		}
		break
	}
	return w.finish()
}

// sweMessage writes one message.
func sweMessage(m *abi.Message) []byte {
	typ := "user"
	switch {
	case m.Role == abi.RoleSystem:
		typ = "system_prompt"
	case m.Role == abi.RoleAssistant:
		typ = "action"
	case m.Role == abi.RoleTool || m.Kind == abi.KindConsoleOutput:
		typ = "observation"
	}
	b := new(builder).str("message_type", typ).str("role", string(m.Role)).
		raw("content", openAIContent(m.Content, m.Role)).str("agent", "main")
	if m.Role == abi.RoleAssistant {
		b.str("thought", m.Text()).str("action", "")
	}
	if len(m.ToolCalls) > 0 {
		b.raw("tool_calls", openAICalls(m.ToolCalls, sameID))
	}
	if m.Role == abi.RoleTool {
		b.raw("tool_call_ids", listJSON([][]byte{quote(m.ToolCallID)}))
	} else {
		b.maybe("kind", string(m.Kind))
	}
	return b.bytes()
}

// compose writes a document with a history alone.
func (sweAgent) compose(s *Session, msgs []abi.Message) []byte {
	var out bytes.Buffer
	out.WriteString("{\"environment\":\"main\",\"trajectory\":[],\"history\":[")
	for i := range msgs {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteByte('\n')
		out.Write(sweMessage(&msgs[i]))
	}
	out.WriteString("\n],\"info\":{},\"replay_config\":")
	model := new(builder).maybe("name", s.Model).bytes()
	config := new(builder).raw("agent", new(builder).raw("model", model).bytes())
	if s.ID != "" {
		config.raw("problem_statement", new(builder).str("id", s.ID).bytes())
	}
	out.Write(config.bytes())
	out.WriteString("}\n")
	return out.Bytes()
}
