// Package codex is the rollout of Codex CLI: one entry a line, with a timestamp,
// a type and a payload. Entries of type response_item are what the model sees, as
// items of the Responses API. event_msg entries are for the screen, turn_context
// entries for the program. The format has no ids.
//
// An answer is an assistant message with the calls that follow it. A result,
// other reasoning, or the token count that closes each response ends it.
// Reasoning belongs to the answer after it and goes with it. The base
// instructions in session_meta are the first message, a system one.
//
// User messages that Codex writes itself have a kind: instructions (AGENTS.md),
// meta (environment, skills), synthetic (an interruption), bash (a command the
// person ran). A kind that the text does not show stands in the key "kind" of
// the line, which Codex passes over.
//
// A compacted entry is Codex's own compaction; its summary is a
// compaction_summary. It supersedes what is before it, except what its
// replacement_history repeats. Without one, the instructions and the person's
// latest words stay. A thread_rolled_back event supersedes the turns that it
// takes back.
package codex

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/transcript/internal/codec"
	"github.com/kagewasm/kagewasm/transcript/internal/content"
	"github.com/kagewasm/kagewasm/transcript/internal/jsondoc"
	"github.com/kagewasm/kagewasm/transcript/internal/responses"
)

// Format is the rollout of Codex CLI.
var Format = codec.Format{Name: "codex", Lines: true, Detect: detect, Read: read, Write: write}

var (
	types       = []string{"session_meta", "response_item", "event_msg", "turn_context", "compacted"}
	lineKeys    = []string{"timestamp", "type", "payload", "kind"}
	payloadKeys = []string{"type", "role", "content", "name", "arguments", "input", "action", "call_id", "output",
		"id", "model", "base_instructions", "message", "replacement_history", "num_turns"}
	itemKeys = []string{"type", "role", "content"}
)

func detect(f *codec.File) string {
	o := f.Probe(f.First, "the line")
	if slices.Contains(types, o.Str("type")) && o.Is("payload", '{') {
		return ""
	}
	return `the first line has no "payload"`
}

func read(f *codec.File) *codec.Log {
	r := &reader{rollout: &rollout{Log: f.LineLog(), meta: -1}}
	r.Args, r.Result, r.Prepare = codec.TextArgs, responses.Output, r.prepare
	r.lines = make([]line, len(r.Recs))
	r.Each("the line", lineKeys, r.line)
	r.close()
	r.supersede()
	return r.Log
}

// line is one entry of a rollout.
type line struct {
	time string
	// rollback is how many turns of the person the entry takes back.
	rollback int
	// compacted marks Codex's own compaction. replaced counts the items of its
	// replacement history by keyOf; nil where it has none.
	compacted bool
	replaced  map[string]int
}

// keyOf is what a message and its repetition have in common.
func keyOf(role abi.Role, c abi.Content) string { return string(role) + "\x00" + c.Text() }

// reader makes messages of the entries of a rollout.
type reader struct {
	*rollout
	// open says that calls still join the latest message.
	open bool
	// loose are the entries with reasoning whose answer is not there yet.
	loose []int
}

func (r *reader) line(i int, o *jsondoc.Object) {
	l := &r.lines[i]
	l.time = o.Scalar("timestamp")
	typ := o.Str("type")
	if !slices.Contains(types, typ) {
		return // of a later version
	}
	at := o.Value("payload")
	if !at.OK() {
		o.Fail(o.At.Start, `an entry has a "payload"`, "no payload in an entry of type %s", jsondoc.Quoted(typ))
		return
	}
	kind := abi.Kind("")
	if typ == "response_item" {
		kind = abi.Kind(o.Str("kind"))
	}
	p := o.Child(at, "the payload", payloadKeys...)
	switch typ {
	case "session_meta":
		r.session(i, p)
	case "response_item":
		r.item(i, p, kind)
	case "compacted":
		r.compacted(i, p)
	case "event_msg":
		r.event(i, p)
	case "turn_context":
		r.NoteModel(p.Str("model"))
	}
}

// add adds a message that begins in entry i. person says that Codex takes it for
// the person's words.
func (r *reader) add(i int, m abi.Message, person bool) *codec.Message {
	m.Timestamp = r.lines[i].time
	r.person = append(r.person, person)
	return r.Add(i, m)
}

// latest is the message that was added last.
func (r *reader) latest() *codec.Message { return r.Messages[len(r.Messages)-1] }

// close ends the open answer. Reasoning that no answer followed belongs to the
// message before it.
func (r *reader) close() {
	if len(r.Messages) > 0 {
		r.claim(r.latest().Rec)
	}
	r.loose, r.open = nil, false
}

// claim gives the loose reasoning to an entry.
func (r *reader) claim(owner int) {
	for _, i := range r.loose {
		r.GoesWith(i, owner)
	}
	r.loose = r.loose[:0]
}

func (r *reader) session(i int, p *jsondoc.Object) {
	if r.meta >= 0 {
		return // of the session that this one was forked from
	}
	r.meta, r.Session = i, p.Str("id")
	if len(r.Messages) > 0 {
		return
	}
	b := p.Sub("base_instructions", "text")
	if text := b.Str("text"); text != "" {
		r.base = b.At
		r.add(i, abi.Message{Role: abi.RoleSystem, Kind: abi.KindInstructions, Content: abi.Text(text)}, false)
	}
}

func (r *reader) event(i int, p *jsondoc.Object) {
	switch p.Str("type") {
	case "token_count":
		r.open = false
	case "thread_rolled_back":
		n, err := strconv.ParseUint(p.Scalar("num_turns"), 10, 64)
		if r.lines[i].rollback = int(min(n, math.MaxInt32)); err != nil {
			p.Fail(p.At.Start, `write how many turns under "num_turns"`, "a rollback that does not say of how much")
		}
		r.close()
	}
}

// calls are the types of items that are calls: the tool, unless the item names
// it, and the key of the arguments.
var calls = map[string]struct{ tool, args string }{
	"function_call": {"", "arguments"}, "custom_tool_call": {"", "input"},
	"tool_search_call": {"tool_search", "arguments"}, "local_shell_call": {"local_shell", "action"},
}

// results are the types of items that are results.
var results = []string{"function_call_output", "custom_tool_call_output", "tool_search_output", "mcp_tool_call_output"}

// item reads what the model sees.
func (r *reader) item(i int, p *jsondoc.Object, kind abi.Kind) {
	typ := p.Str("type")
	call, isCall := calls[typ]
	switch {
	case typ == "message":
		r.message(i, p, kind)
	case isCall:
		r.call(i, p, call.tool, call.args)
	case slices.Contains(results, typ):
		r.result(i, p)
	case responses.IsCompaction(typ):
		r.close()
		part := abi.RawPart(typ, jsondoc.Compact(p.Bytes(p.At)))
		r.add(i, abi.Message{Role: abi.RoleUser, Kind: abi.KindSummary, Content: abi.Parts(part)}, false)
	case typ == "ghost_snapshot":
	case r.open && typ != "reasoning": // what a server does on its own, as web_search_call
		r.GoesWith(i, r.latest().Rec)
	default:
		if r.open {
			r.close()
		}
		r.loose = append(r.loose, i)
	}
}

func (r *reader) message(i int, p *jsondoc.Object, kind abi.Kind) {
	m := abi.Message{Kind: kind, Content: readContent(p, "content")}
	person := false
	switch role := p.Str("role"); role {
	case "assistant":
		m.Role = abi.RoleAssistant
	case "system", "developer":
		m.Role = abi.RoleSystem
	case "user":
		m.Role = abi.RoleUser
		own := kindOf(m.Content)
		person = own == ""
		m.Kind = cmp.Or(m.Kind, own, content.Framed(m.Content))
	default:
		p.Fail(p.At.Start, "use user, assistant, developer or system", "role %s", jsondoc.Quoted(role))
		return
	}
	if m.Role == abi.RoleAssistant {
		r.begin(i)
	} else {
		r.close()
	}
	r.add(i, m, person)
}

// begin begins an answer in entry i, to which the loose reasoning belongs.
func (r *reader) begin(i int) {
	r.open = true
	r.claim(i)
}

func (r *reader) call(i int, p *jsondoc.Object, name, key string) {
	if !r.open {
		r.begin(i)
		r.add(i, abi.Message{Role: abi.RoleAssistant}, false)
	} else {
		r.Continue(i, r.latest())
	}
	if name == "" {
		name = p.Str("name")
	}
	id := p.Str("call_id")
	if id == "" {
		id = p.Str("id")
	}
	r.latest().Call(i, p, id, name, key)
}

// result reads the output of a call: a string, a list of parts, or, in older
// logs, an object with "content" and "success".
func (r *reader) result(i int, p *jsondoc.Object) {
	r.close()
	m := r.add(i, abi.Message{Role: abi.RoleTool, ToolCallID: p.Str("call_id")}, false)
	key := "output"
	if p.Is(key, '{') {
		p, key = p.Sub(key, "content", "success"), "content"
		m.IsError = p.Value("success").OK() && !p.Flag("success")
	}
	m.Content, m.Output = readContent(p, key), codec.SlotOf(i, p, key)
}

// compacted reads Codex's own compaction.
func (r *reader) compacted(i int, p *jsondoc.Object) {
	r.close()
	l := &r.lines[i]
	l.compacted = true
	m := r.add(i, abi.Message{Role: abi.RoleUser, Kind: abi.KindSummary, Content: abi.Text(p.Str("message"))}, false)
	if p.Value("replacement_history").OK() {
		l.replaced = make(map[string]int)
	}
	for _, at := range p.List("replacement_history") {
		o := p.Child(at, "an item of the replacement history", itemKeys...)
		switch typ := o.Str("type"); {
		case typ == "message":
			role, c := abi.Role(o.Str("role")), readContent(o, "content")
			if role == "developer" {
				role = abi.RoleSystem
			}
			if l.replaced[keyOf(role, c)]++; m.Text() == "" && kindOf(c) == abi.KindSummary {
				m.Content = c
			}
		case responses.IsCompaction(typ):
			m.Content = abi.Parts(abi.RawPart(typ, jsondoc.Compact(o.Bytes(at))))
		}
	}
}

// readContent reads a content. The items of the Responses API have a list there,
// older logs an object.
func readContent(o *jsondoc.Object, key string) abi.Content {
	if o.Is(key, '{') {
		return abi.Text(codec.Arguments(o, key))
	}
	c := responses.Content(o, key)
	if !c.IsParts() {
		return c
	}
	return content.FromParts(c.Parts())
}
