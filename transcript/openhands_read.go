package transcript

import (
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

// handsReader makes messages of events.
type handsReader struct {
	doc *handsDoc
	d   *decoded
	// answer is the id of the response that the latest answer came from; more
	// of its actions may follow.
	answer string
	latest int
}

// add begins a message in event i.
func (r *handsReader) add(i int, o *object, m abi.Message, s slots) {
	m.ID, m.Timestamp = r.doc.lines[i].id, o.scalar("timestamp")
	if kind := abi.Kind(o.str("kind")); kind != "" && m.Role == abi.RoleUser {
		m.Kind = kind
	} else if m.Role == abi.RoleUser && m.Kind == "" {
		m.Kind = framed(m.Content)
	}
	r.d.messages = append(r.d.messages, m)
	r.doc.add(i, s)
	if m.Role != abi.RoleTool {
		r.answer = ""
	}
}

func (r *handsReader) event(i int, o *object) {
	l := &r.doc.lines[i]
	l.id = o.scalar("id")
	if action := o.str("action"); action != "" {
		at, ok := o.value("args")
		if !ok {
			return // nothing is known of it
		}
		args := o.child(at, `"args"`, handsArgKeys...)
		r.action(i, o, action, args)
		o.adopt(args)
	} else if observation := o.str("observation"); observation != "" {
		r.observation(i, o, observation)
	}
}

func (r *handsReader) action(i int, o *object, action string, args *object) {
	agent := o.str("source") == "agent"
	meta, called := o.value("tool_call_metadata")
	switch {
	case action == "system":
		if tools, ok := args.value("tools"); ok && r.d.tools == nil {
			r.d.tools = o.src.bytes(tools)
		}
		r.add(i, o, abi.Message{Role: abi.RoleSystem, Content: args.content("content")}, slots{})
	case action == "message":
		m := abi.Message{Role: abi.RoleUser, Content: args.handsContent()}
		if agent {
			m.Role = abi.RoleAssistant
		}
		r.add(i, o, m, slots{})
	case action == "condensation":
		r.condensation(i, o, args)
	case agent && called:
		m := o.child(meta, `"tool_call_metadata"`, "function_name", "tool_call_id", "model_response")
		r.call(i, o, m, args)
		o.adopt(m)
	case action == "run" && !agent:
		r.add(i, o, abi.Message{Role: abi.RoleUser, Kind: abi.KindBash, Content: args.content("command")}, slots{})
	case agent && (action == "finish" || action == "reject"):
		text := args.str("final_thought")
		if text == "" {
			text = args.str("thought")
		}
		r.add(i, o, abi.Message{Role: abi.RoleAssistant, Content: abi.Text(text)}, slots{})
	case agent && handsWork[action]:
		call := abi.ToolCall{ID: handsCall(r.doc.lines[i].id), Name: action, Arguments: args.handsArguments()}
		r.add(i, o, abi.Message{Role: abi.RoleAssistant, Content: abi.Text(args.str("thought")), ToolCalls: []abi.ToolCall{call}},
			slots{args: []slot{o.slot(i, "args")}})
	}
}

// handsArguments are what an action does, without the words that came with it.
func (o *object) handsArguments() string {
	b := new(builder)
	for _, f := range o.fields {
		if string(f.key) != "thought" {
			b.raw(string(f.key), compacted(o.src.bytes(f.value)))
		}
	}
	return string(b.bytes())
}

// handsWork are the actions that the agent can take, and the observations
// that answer them.
var handsWork = map[string]bool{"run": true, "run_ipython": true, "read": true, "write": true, "edit": true,
	"browse": true, "browse_interactive": true, "think": true, "delegate": true, "call_tool_mcp": true, "mcp": true}

// handsCall is the id of a call that has none.
func handsCall(event string) string { return "event:" + event }

// call reads an action that was taken in answer to a call of the model.
func (r *handsReader) call(i int, o, meta, args *object) {
	m, s, response := abi.Message{Role: abi.RoleAssistant}, slots{}, ""
	if at, ok := meta.value("model_response"); ok && meta.is("model_response", '{') {
		res := meta.child(at, `"model_response"`, "id", "model", "choices")
		if response = res.str("id"); res.is("model", '"') && res.str("model") != "" {
			r.d.model = res.str("model")
		}
		if choices := res.list("choices"); len(choices) > 0 {
			c := res.child(choices[0], "a choice", "message")
			c.handsAnswer(i, &m, &s)
			res.adopt(c)
		}
		meta.adopt(res)
	}
	if len(m.ToolCalls) == 0 {
		if m.Text() == "" && args.is("thought", '"') {
			m.Content = abi.Text(args.str("thought"))
		}
		m.ToolCalls = []abi.ToolCall{{ID: meta.str("tool_call_id"), Name: meta.str("function_name"), Arguments: args.handsArguments()}}
		s.args = []slot{o.slot(i, "args")}
	}
	if response != "" && response == r.answer {
		r.doc.put(i, r.latest)
		r.d.messages[r.latest].ToolCalls, r.doc.at[r.latest] = m.ToolCalls, s
		return
	}
	r.add(i, o, m, s)
	r.answer, r.latest = response, len(r.d.messages)-1
}

// handsAnswer reads the message of a chat completion.
func (o *object) handsAnswer(rec int, m *abi.Message, s *slots) {
	at, ok := o.value("message")
	if !ok {
		return
	}
	msg := o.child(at, "the message of a choice", "content", "tool_calls")
	m.Content = msg.content("content")
	for _, call := range msg.list("tool_calls") {
		msg.openAICall(call, rec, m, s)
	}
	o.adopt(msg)
}

func (r *handsReader) observation(i int, o *object, observation string) {
	m := abi.Message{Role: abi.RoleTool}
	s := slots{content: o.slot(i, "content")}
	cause := o.scalar("cause")
	failed := observation == "error" || observation == "user_rejected"
	meta, called := o.value("tool_call_metadata")
	switch {
	case called:
		c := o.child(meta, `"tool_call_metadata"`, "function_name", "tool_call_id")
		m.ToolCallID, m.Name = c.str("tool_call_id"), c.str("function_name")
		o.adopt(c)
	case observation == "recall":
		r.recall(i, o)
		return
	case observation == "condense":
		m.Role, m.Kind, s = abi.RoleUser, abi.KindSummary, slots{}
	case observation == "run" && o.str("source") == "user":
		m.Role, m.Kind, s = abi.RoleUser, abi.KindConsoleOutput, slots{}
	case handsWork[observation] || failed && cause != "":
		m.ToolCallID, m.Name = handsCall(cause), observation
	case failed:
		m.Role, m.Kind, s = abi.RoleUser, abi.KindSynthetic, slots{}
	default:
		return
	}
	m.Content = o.content("content")
	_, said := o.value("success")
	m.IsError = m.Role == abi.RoleTool && (failed || said && !o.flag("success"))
	r.add(i, o, m, s)
}

// recall reads what was found for the model to know. Where nothing was, the
// observation is no message.
func (r *handsReader) recall(i int, o *object) {
	at, ok := o.value("extras")
	if !ok {
		return
	}
	e := o.child(at, `"extras"`, "repo_instructions", "additional_agent_instructions", "microagent_knowledge")
	texts := []string{e.str("repo_instructions"), e.str("additional_agent_instructions")}
	for _, at := range e.list("microagent_knowledge") {
		k := e.child(at, "a piece of knowledge", "content")
		texts = append(texts, k.str("content"))
		e.adopt(k)
	}
	o.adopt(e)
	var found []string
	for _, t := range texts {
		if t != "" {
			found = append(found, t)
		}
	}
	if len(found) > 0 {
		r.add(i, o, abi.Message{Role: abi.RoleUser, Kind: abi.KindInstructions, Content: abi.Text(strings.Join(found, "\n\n"))}, slots{})
	}
}

// handsContent reads the content of a message and the images beside it.
func (o *object) handsContent() abi.Content {
	images := o.list("image_urls")
	if len(images) == 0 {
		return o.content("content")
	}
	parts := []abi.Part{abi.TextPart(o.str("content"))}
	for _, at := range images {
		url := new(builder).raw("url", compacted(o.src.bytes(at)))
		parts = append(parts, abi.RawPart("image_url", new(builder).str("type", "image_url").raw("image_url", url.bytes()).bytes()))
	}
	return abi.Parts(parts...)
}

// condensation reads OpenHands' own compaction.
func (r *handsReader) condensation(i int, o, args *object) {
	l := &r.doc.lines[i]
	l.condensation = true
	for _, at := range args.list("forgotten_event_ids") {
		r.doc.forget(string(o.src.bytes(at)))
	}
	r.doc.forgetRange(args.scalar("forgotten_events_start_id"), args.scalar("forgotten_events_end_id"))
	if args.is("summary", '"') {
		r.add(i, o, abi.Message{Role: abi.RoleUser, Kind: abi.KindSummary, Content: abi.Text(args.str("summary"))}, slots{})
	}
}
