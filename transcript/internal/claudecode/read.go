// Package claudecode is the log of Claude Code: one entry a line. Entries of type
// user and assistant hold messages. A message's id is the uuid of its line.
//
// The log splits an answer of the model over several lines with the same
// message.id, a block each. They are one message here, with the id of the first
// line, as long as only tool results stand between them. A user line is one
// message for each tool_result and one for each run of other blocks; from the
// second on their ids are UUID#2, UUID#3, ... Thinking blocks are parts.
//
// isCompactSummary makes a message a compaction_summary, isMeta makes it meta.
// An assistant message that no model made is synthetic. The log is the whole
// session in its own order, with branches that were left by rewinding. Messages
// from before a compact_boundary are superseded, unless it preserves them.
//
// Entries of a subagent (isSidechain) are another conversation and are carried
// along. In a log of nothing else they are the conversation.
package claudecode

import (
	"bytes"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/transcript/internal/anthropic"
	"github.com/kagewasm/kagewasm/transcript/internal/codec"
	"github.com/kagewasm/kagewasm/transcript/internal/content"
	"github.com/kagewasm/kagewasm/transcript/internal/jsondoc"
)

// Format is the log of Claude Code.
var Format = codec.Format{Name: "claude-code", Lines: true, Detect: detect, Read: read, Write: write}

func detect(f *codec.File) string {
	for _, at := range f.Source.Lines(0) {
		if f.Kind(at) != '{' || !bytes.Contains(f.Bytes(at), []byte(`"message"`)) || f.Check(at) != nil {
			continue
		}
		o := f.Probe(at, "the line")
		if t := o.Str("type"); (t == "user" || t == "assistant") && o.Is("message", '{') &&
			(o.Has("uuid") || o.Has("parentUuid") || o.Has("sessionId")) {
			return ""
		}
	}
	return `no line with a "message" and a "uuid"`
}

// line is one entry of the log.
type line struct {
	codec.Link           // of uuid and parentUuid; Apart are entries of a subagent
	user, assistant bool // it holds a message of that role
	meta, summary   bool
	system          bool // a system message of another format
	// kept is what a compact_boundary preserved. Other entries have none. A
	// boundary begins a new chain.
	kept    *kept
	logical string // the parent across a boundary
	ref     string // of a snapshot: the uuid of the message it was taken for
	time    string
	message jsondoc.Span
}

var (
	lineKeys = []string{"type", "subtype", "uuid", "parentUuid", "logicalParentUuid", "message", "messageId",
		"isSidechain", "isMeta", "isCompactSummary", "compactMetadata", codec.SystemMark, "sessionId", "timestamp"}
	messageKeys = []string{"role", "content", "id", "model"}
)

func read(f *codec.File) *codec.Log {
	d := &chain{Log: f.LineLog()}
	d.Args, d.Prepare = codec.ObjectArgs, d.prepare
	mine := false // there are messages that are not of a subagent
	d.Each("the line", lineKeys, func(_ int, o *jsondoc.Object) {
		l := readLine(o)
		if d.Session == "" && o.Is("sessionId", '"') {
			d.Session = o.Str("sessionId")
		}
		mine = mine || (l.user || l.assistant) && !l.Apart
		d.lines = append(d.lines, l)
	})
	r := &reader{lines: d.lines}
	r.BlockReader = codec.BlockReader{Log: d.Log, Form: anthropic.ReadBlock, Header: r.begin, Speaker: r.spoke}
	for i := range d.lines {
		l := &d.lines[i]
		if l.Apart = l.Apart && mine; (l.user || l.assistant) && !l.Apart && d.Err() == nil {
			r.line(i)
		}
	}
	r.CloseAnswer()
	d.link()
	d.supersede()
	return d.Log
}

// readLine reads what an entry says outside its message.
func readLine(o *jsondoc.Object) line {
	typ := o.Str("type")
	l := line{user: typ == "user", assistant: typ == "assistant"}
	l.Apart, l.meta, l.system = o.Flag("isSidechain"), o.Flag("isMeta"), o.Flag(codec.SystemMark)
	l.summary = o.Flag("isCompactSummary")
	boundary := typ == "system" && o.Str("subtype") == "compact_boundary"
	l.ID, l.Parent, l.logical = o.Str("uuid"), o.Str("parentUuid"), o.Str("logicalParentUuid")
	l.time, l.At = o.Scalar("timestamp"), o.Raw("parentUuid")
	if boundary {
		l.kept = readKept(o)
	}
	if typ == "file-history-snapshot" {
		l.ref = o.Str("messageId")
	}
	if l.user || l.assistant {
		if l.message = o.Value("message"); !l.message.OK() {
			o.Fail(o.At.Start, `an entry of type user or assistant has a "message"`,
				"no message in an entry of type %s", typ)
		}
	}
	return l
}

// reader makes messages of the entries of a log.
type reader struct {
	codec.BlockReader
	lines []line
	id    string // the model's message.id of the open answer
}

func (r *reader) line(i int) {
	m := r.Source.Open(r.lines[i].message, `"message"`, messageKeys...)
	if r.lines[i].assistant {
		r.assistant(i, m)
	} else {
		r.ReadUser(i, m, "content")
	}
}

// begin sets the id and the time of a message in line i.
func (r *reader) begin(i, nth int, m *abi.Message) {
	l := &r.lines[i]
	m.ID, m.Timestamp = content.OrdinalID(l.ID, nth), l.time
}

func (r *reader) assistant(i int, o *jsondoc.Object) {
	id := o.Str("id")
	if r.Answering() != nil && id != "" && id == r.id {
		r.Continue(i, r.Answering())
	} else {
		m := r.StartAnswer(i)
		if model := o.Str("model"); model == synthetic {
			m.Kind = abi.KindSynthetic
		} else {
			r.NoteModel(model)
		}
		r.id = id
	}
	if o.Is("content", '"') {
		r.AddPart(abi.TextPart(o.Str("content")))
	} else if list := o.ListAt("content"); list.OK() {
		r.ReadAnswer(i, list, o)
	}
}

// synthetic is the model of answers that no model made.
const synthetic = "<synthetic>"

// spoke says who spoke a message of line i that is neither answer nor result.
func (r *reader) spoke(i int, m *abi.Message) {
	l := &r.lines[i]
	switch framed := content.Framed(m.Content); {
	case l.meta && l.system:
		m.Role = abi.RoleSystem
	case l.summary:
		m.Kind = abi.KindSummary
	case framed != "":
		m.Kind = framed
	case l.meta:
		m.Kind = abi.KindMeta
	}
}
