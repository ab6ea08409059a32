// Package openhands is the event log of OpenHands (its first generation, to 1.0):
// a list of actions and observations, or a document that holds the list under
// "history", "trajectory" or "events". A message's id is its event's.
//
// An action says which answer it came from (tool_call_metadata). The actions of
// one answer are one message, as long as only results stand between them. In a log
// without such metadata an action is a call of its own, with the id event:ID,
// which its observation names as its cause. success false marks a failed call.
//
// A command that the person ran is of kind bash, its output console_output. An
// error outside any call is synthetic; what a recall found is instructions.
// Changes of state and the like are no messages and are carried along. Other
// kinds stand in the key "kind" of the event, which OpenHands passes over.
//
// A condensation with a summary is a compaction_summary. It supersedes the events
// that it forgets and earlier summaries. OpenHands shows the model the latest
// summary, at the place that the condensation names.
package openhands

import (
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/transcript/internal/codec"
	"github.com/kagewasm/kagewasm/transcript/internal/content"
	"github.com/kagewasm/kagewasm/transcript/internal/jsondoc"
	"github.com/kagewasm/kagewasm/transcript/internal/openai"
)

// Format is the event log of OpenHands.
var Format = codec.Format{Name: "openhands", Detect: detect, Read: read, Write: write}

var (
	// listKeys are the keys under which a document may hold its events.
	listKeys  = []string{"history", "trajectory", "events"}
	docKeys   = []string{"history", "trajectory", "events", "instance_id"}
	eventKeys = []string{"id", "timestamp", "source", "action", "args", "observation", "content", "extras", "cause",
		"tool_call_metadata", "success", "kind"}
	argKeys = []string{"content", "command", "thought", "final_thought", "summary", "forgotten_event_ids",
		"forgotten_events_start_id", "forgotten_events_end_id", "tools", "image_urls"}
)

// work are the actions that the agent can take, and the observations that
// answer them.
var work = map[string]bool{"run": true, "run_ipython": true, "read": true, "write": true, "edit": true,
	"browse": true, "browse_interactive": true, "think": true, "delegate": true, "call_tool_mcp": true, "mcp": true}

func detect(f *codec.File) string {
	list := events(f)
	if !list.OK() {
		return "no list of events"
	}
	els := f.Elements(list)
	if len(els) == 0 {
		return "no events"
	}
	o := f.Probe(els[0], "the first event")
	if o.Is("source", '"') && (o.Is("action", '"') || o.Is("observation", '"')) {
		return ""
	}
	return "the first element is no event"
}

// events finds the list of events, if there is one.
func events(f *codec.File) jsondoc.Span {
	list, _ := f.Body(f.ProbeDocument(), listKeys...)
	return list
}

func read(f *codec.File) *codec.Log {
	o := f.Document(docKeys...)
	list := events(f)
	if !list.OK() {
		o.Fail(f.First.Start, `put the events in a list, or in one under "history"`, "no list of events")
	}
	d := &log{Log: f.ListLog(list), forgot: make(map[string]bool)}
	d.Args, d.Prepare = d.writeArgs, d.prepare
	d.Result = func(c abi.Content, _ codec.Slot) []byte { return textJSON(c) }
	d.lines = make([]line, len(d.Recs))
	d.Session = o.Scalar("instance_id")
	r := &reader{log: d}
	r.Each("the event", eventKeys, r.event)
	d.supersede()
	return d.Log
}

// reader makes messages of events.
type reader struct {
	*log
	// answer is the id of the response that the latest answer came from; more
	// of its actions may follow.
	answer string
	latest *codec.Message
}

// add begins a message in event i.
func (r *reader) add(i int, o *jsondoc.Object, m abi.Message) *codec.Message {
	m.ID, m.Timestamp = r.lines[i].id, o.Scalar("timestamp")
	if kind := abi.Kind(o.Str("kind")); kind != "" && m.Role == abi.RoleUser {
		m.Kind = kind
	} else if m.Role == abi.RoleUser && m.Kind == "" {
		m.Kind = content.Framed(m.Content)
	}
	if m.Role != abi.RoleTool {
		r.answer = ""
	}
	return r.Add(i, m)
}

func (r *reader) event(i int, o *jsondoc.Object) {
	r.lines[i].id = o.Scalar("id")
	if action := o.Str("action"); action != "" {
		if args := o.Sub("args", argKeys...); args.At.OK() { // nothing is known of it otherwise
			r.action(i, o, action, args)
		}
	} else if observation := o.Str("observation"); observation != "" {
		r.observation(i, o, observation)
	}
}

func (r *reader) action(i int, o *jsondoc.Object, action string, args *jsondoc.Object) {
	agent := o.Str("source") == "agent"
	called := o.Value("tool_call_metadata").OK()
	switch {
	case action == "system":
		if tools := args.Value("tools"); args.Kind(tools) == '[' && r.Tools == nil {
			r.Tools = o.Bytes(tools)
		}
		r.add(i, o, abi.Message{Role: abi.RoleSystem, Content: codec.Content(args, "content")})
	case action == "message":
		m := abi.Message{Role: abi.RoleUser, Content: words(args)}
		if agent {
			m.Role = abi.RoleAssistant
		}
		r.add(i, o, m)
	case action == "condensation":
		r.condensation(i, o, args)
	case agent && called:
		r.call(i, o, args)
	case action == "run" && !agent:
		r.add(i, o, abi.Message{Role: abi.RoleUser, Kind: abi.KindBash, Content: codec.Content(args, "command")})
	case agent && (action == "finish" || action == "reject"):
		text := args.Str("final_thought")
		if text == "" {
			text = args.Str("thought")
		}
		r.add(i, o, abi.Message{Role: abi.RoleAssistant, Content: abi.Text(text)})
	case agent && work[action]:
		call := abi.ToolCall{ID: callID(r.lines[i].id), Name: action, Arguments: arguments(args)}
		m := r.add(i, o, abi.Message{Role: abi.RoleAssistant, Content: abi.Text(args.Str("thought"))})
		m.CallAt(codec.SlotOf(i, o, "args"), call)
	}
}

// arguments are what an action does, without the words that came with it.
func arguments(args *jsondoc.Object) string {
	var fields []any
	for _, f := range args.Fields {
		if string(f.Key) != "thought" {
			fields = append(fields, string(f.Key), jsondoc.Compact(args.Bytes(f.Value)))
		}
	}
	return string(jsondoc.Obj(fields...))
}

// callID is the id of a call that has none.
func callID(event string) string { return "event:" + event }

// call reads an action that was taken in answer to a call of the model.
func (r *reader) call(i int, o, args *jsondoc.Object) {
	meta := o.Sub("tool_call_metadata", "function_name", "tool_call_id", "model_response")
	m, response := &codec.Message{}, ""
	m.Role = abi.RoleAssistant
	if meta.Is("model_response", '{') {
		res := meta.Sub("model_response", "id", "model", "choices")
		if response = res.Str("id"); res.Is("model", '"') {
			r.NoteModel(res.Str("model"))
		}
		if choices := res.List("choices"); len(choices) > 0 {
			c := res.Child(choices[0], "a choice", "message")
			if said := c.Value("message"); said.OK() {
				msg := c.Child(said, "the message of a choice", "content", "tool_calls")
				m.Content = codec.Content(msg, "content")
				openai.ReadCalls(m, i, msg)
			}
		}
	}
	if len(m.ToolCalls) == 0 {
		if m.Text() == "" && args.Is("thought", '"') {
			m.Content = abi.Text(args.Str("thought"))
		}
		m.CallAt(codec.SlotOf(i, o, "args"),
			abi.ToolCall{ID: meta.Str("tool_call_id"), Name: meta.Str("function_name"), Arguments: arguments(args)})
	}
	if response != "" && response == r.answer {
		r.Continue(i, r.latest)
	} else {
		r.latest = r.add(i, o, m.Message)
		r.answer = response
	}
	r.latest.TakeCalls(m)
}

func (r *reader) observation(i int, o *jsondoc.Object, observation string) {
	m := abi.Message{Role: abi.RoleTool}
	cause := o.Scalar("cause")
	failed := observation == "error" || observation == "user_rejected"
	meta := o.Sub("tool_call_metadata", "function_name", "tool_call_id")
	switch {
	case meta.At.OK():
		m.ToolCallID, m.Name = meta.Str("tool_call_id"), meta.Str("function_name")
	case observation == "recall":
		r.recall(i, o)
		return
	case observation == "condense":
		m.Role, m.Kind = abi.RoleUser, abi.KindSummary
	case observation == "run" && o.Str("source") == "user":
		m.Role, m.Kind = abi.RoleUser, abi.KindConsoleOutput
	case work[observation] || failed && cause != "":
		m.ToolCallID, m.Name = callID(cause), observation
	case failed:
		m.Role, m.Kind = abi.RoleUser, abi.KindSynthetic
	default:
		return
	}
	m.Content = codec.Content(o, "content")
	m.IsError = m.Role == abi.RoleTool && (failed || o.Value("success").OK() && !o.Flag("success"))
	r.add(i, o, m).Output = codec.SlotOf(i, o, "content")
}

// recall reads what was found for the model to know. Where nothing was, the
// observation is no message.
func (r *reader) recall(i int, o *jsondoc.Object) {
	e := o.Sub("extras", "repo_instructions", "additional_agent_instructions", "microagent_knowledge")
	var found []string
	add := func(text string) {
		if text != "" {
			found = append(found, text)
		}
	}
	add(e.Str("repo_instructions"))
	add(e.Str("additional_agent_instructions"))
	for _, at := range e.List("microagent_knowledge") {
		add(e.Child(at, "a piece of knowledge", "content").Str("content"))
	}
	if len(found) > 0 {
		r.add(i, o, abi.Message{Role: abi.RoleUser, Kind: abi.KindInstructions,
			Content: abi.Text(strings.Join(found, "\n\n"))})
	}
}

// words reads the content of a message and the images beside it.
func words(args *jsondoc.Object) abi.Content {
	images := args.List("image_urls")
	if len(images) == 0 {
		return codec.Content(args, "content")
	}
	parts := []abi.Part{abi.TextPart(args.Str("content"))}
	for _, at := range images {
		url := jsondoc.Obj("url", jsondoc.Compact(args.Bytes(at)))
		parts = append(parts, abi.RawPart("image_url", jsondoc.Obj("type", "image_url", "image_url", url)))
	}
	return abi.Parts(parts...)
}

// condensation reads OpenHands' own compaction.
func (r *reader) condensation(i int, o, args *jsondoc.Object) {
	r.lines[i].condensation = true
	for _, at := range args.List("forgotten_event_ids") {
		r.forgot[string(o.Bytes(at))] = true
	}
	r.forgetRange(args.Scalar("forgotten_events_start_id"), args.Scalar("forgotten_events_end_id"))
	if args.Is("summary", '"') {
		r.add(i, o, abi.Message{Role: abi.RoleUser, Kind: abi.KindSummary, Content: abi.Text(args.Str("summary"))})
	}
}
