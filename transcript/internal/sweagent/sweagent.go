// Package sweagent is the .traj of SWE-agent: a document whose "history" is
// what the model saw, a message each. The steps under "trajectory" tell the
// same once more with the environment's answers; nothing there is read or
// changed.
//
// A tool message answers the first of its tool_call_ids. In sessions without
// tool calls the environment answers in user messages of type observation:
// they have the kind console_output, but for the first, which is the task.
// Where that goes, the next one is written with its kind. Demonstrations are
// meta. Other kinds stand in the key "kind", which SWE-agent passes over.
package sweagent

import (
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/transcript/internal/codec"
	"github.com/kagewasm/kagewasm/transcript/internal/content"
	"github.com/kagewasm/kagewasm/transcript/internal/jsondoc"
	"github.com/kagewasm/kagewasm/transcript/internal/openai"
)

// Format is the trajectory of SWE-agent.
var Format = codec.Format{Name: "swe-agent", Detect: detect, Read: read, Write: write}

var (
	docKeys     = []string{"history", "replay_config"}
	messageKeys = []string{"role", "content", "tool_calls", "tool_call_ids", "is_demo", "message_type", "kind"}
)

func detect(f *codec.File) string {
	if f.Kind(f.First) != '{' {
		return "not an object"
	}
	o := f.ProbeDocument()
	if !o.Is("history", '[') {
		return codec.NoList("history")
	}
	if els := o.List("history"); len(els) == 0 || !f.Probe(els[0], "the first message").Has("role") {
		return `the first message under "history" has no "role"`
	}
	return ""
}

func read(f *codec.File) *codec.Log {
	o := f.Document(docKeys...)
	if !o.Is("history", '[') {
		o.Fail(o.At.Start, `put the messages in a list under "history"`, "%s", codec.NoList("history"))
	}
	t := &trajectory{Log: f.ListLog(o.Value("history"))}
	t.Entry, t.Args, t.Prepare = writeMessage, codec.TextArgs, t.prepare
	t.readConfig(o)
	t.Each("the message", messageKeys, t.message)
	return t.Log
}

// trajectory is a history that can be written again.
type trajectory struct {
	*codec.Log
	observations []observation
}

// observation is a message of the environment's in the role of the user.
type observation struct {
	message int
	implied bool // its place alone says its kind
	kind    jsondoc.Place
}

// readConfig reads the model and the task's id from what SWE-agent was run with. Some versions write
// that as a string, which is ignored.
func (t *trajectory) readConfig(o *jsondoc.Object) {
	in := func(o *jsondoc.Object, key string) *jsondoc.Object {
		if !o.Is(key, '{') {
			return o.None(o.At)
		}
		return o.Probe(o.Value(key), key)
	}
	config := in(o, "replay_config")
	if task := in(config, "problem_statement"); task.Is("id", '"') {
		t.Session = task.Str("id")
	}
	if model := in(in(config, "agent"), "model"); model.Is("name", '"') {
		t.Model = model.Str("name")
	}
}

func (t *trajectory) message(i int, o *jsondoc.Object) {
	m := t.Add(i, abi.Message{Role: codec.Role(o), Content: codec.Content(o, "content"), Kind: abi.Kind(o.Str("kind"))})
	m.Output = codec.SlotOf(i, o, "content")
	typ, demo := o.Str("message_type"), o.Flag("is_demo")
	observed := o.Str("role") == "user" && typ == "observation" && !demo
	framed := content.Framed(m.Content)
	switch {
	case m.Role == abi.RoleTool:
		if ids := o.List("tool_call_ids"); len(ids) > 0 && o.Kind(ids[0]) == '"' {
			m.ToolCallID = o.Unquote(ids[0])
		}
	case m.Role != abi.RoleUser || m.Kind != "":
	case framed != "":
		m.Kind = framed
	case demo || typ == "demonstration":
		m.Kind = abi.KindMeta
	case observed && len(t.observations) > 0: // the task stood before
		m.Kind = abi.KindConsoleOutput
	}
	openai.ReadCalls(m, i, o)
	if observed {
		implied := m.Kind == abi.KindConsoleOutput && !o.Has("kind")
		t.observations = append(t.observations, observation{i, implied, o.Place("kind")})
	}
}

// prepare writes the kind of the observation that has become the first.
func (t *trajectory) prepare(w *codec.Rewrite) {
	for _, says := range t.observations {
		if w.Stays(says.message) {
			if says.implied {
				w.Edit(says.message, says.kind.Put(jsondoc.Quote(string(abi.KindConsoleOutput))))
			}
			return
		}
	}
}

func writeMessage(m *abi.Message) []byte {
	typ, kind := "user", m.Kind
	var ids, thought, action, calls any
	switch {
	case m.Role == abi.RoleSystem:
		typ = "system_prompt"
	case m.Role == abi.RoleAssistant:
		typ, thought, action = "action", m.Text(), ""
	case m.Role == abi.RoleTool:
		typ, kind, ids = "observation", "", [][]byte{jsondoc.Quote(m.ToolCallID)}
	case m.Kind == abi.KindConsoleOutput:
		typ = "observation"
	}
	if len(m.ToolCalls) > 0 {
		calls = openai.Calls(m.ToolCalls, openai.SameID)
	}
	return jsondoc.Obj("message_type", typ, "role", string(m.Role), "content", openai.Content(m), "agent", "main",
		"thought", thought, "action", action, "tool_calls", calls, "tool_call_ids", ids, "kind", jsondoc.Maybe(string(kind)))
}

// write writes a document with a history alone.
func write(about codec.About, msgs []abi.Message) []byte {
	history := lists.Map(msgs, func(m abi.Message) []byte { return writeMessage(&m) })
	var task any
	if about.Session != "" {
		task = jsondoc.Obj("id", about.Session)
	}
	model := jsondoc.Obj("model", jsondoc.Obj("name", jsondoc.Maybe(about.Model)))
	return append(jsondoc.Obj("environment", "main", "trajectory", [][]byte{}, "history", jsondoc.Lines(history),
		"info", jsondoc.Obj(), "replay_config", jsondoc.Obj("agent", model, "problem_statement", task)), '\n')
}
