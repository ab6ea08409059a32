// Package pi is the session of pi: a line that names the session, and entries
// that form a tree by parentId. The last entry is the leaf. The messages are those
// on the way from the root to the leaf; other branches are carried along.
// Sessions of version 1 have neither ids nor branches. A message's id is its
// entry's.
//
// bashExecution messages have the kind bash, or display_only where the model does
// not see them, and the text that pi shows the model. An extension's
// custom_message has the kind that its customType names if [abi.Kind] knows it.
// Otherwise it is synthetic, as is a branch_summary. Thinking and images are parts
// as the Messages API writes them.
//
// A system message says what changes of the prompt, by sections, and of the tools; the
// first one says all of it. It has the texts of its sections; a later one has the kind
// instructions, as it stays. Older sessions have none, so one of another format is a
// custom_message of customType system_prompt.
//
// A compaction entry is a compaction_summary. The latest one counts: pi shows the
// model its summary, then what stands from firstKeptEntryId on. Everything before,
// and earlier summaries, are superseded.
//
// A context_edit says what the model sees in place of an entry's content; the latest
// one on the way to the leaf counts. A message that it leaves out is superseded.
package pi

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/transcript/internal/codec"
	"github.com/kagewasm/kagewasm/transcript/internal/content"
	"github.com/kagewasm/kagewasm/transcript/internal/jsondoc"
)

// Format is the session of pi.
var Format = codec.Format{Name: "pi", Lines: true, Detect: detect, Read: read, Write: write}

var (
	lineKeys = []string{"type", "version", "id", "parentId", "timestamp", "message", "summary", "firstKeptEntryId",
		"firstKeptEntryIndex", "customType", "content", "targetId", "modelId", "replacement"}
	messageKeys = []string{"role", "content", "model", "toolCallId", "toolName", "isError", "command", "output",
		"exitCode", "cancelled", "truncated", "fullOutputPath", "excludeFromContext", "customType", "summary", "sections"}
	blockKeys = []string{"type", "text", "thinking", "thinkingSignature", "id", "name", "arguments", "data", "mimeType"}
)

// systemType is the customType of a message that was a system message in
// another format.
const systemType = "system_prompt"

// customKinds are the kinds that a customType may name.
var customKinds = []abi.Kind{abi.KindSummary, abi.KindInjected, abi.KindMeta, abi.KindInstructions, abi.KindBash,
	abi.KindConsoleOutput, abi.KindDisplayOnly, abi.KindBookmark, abi.KindMetadata, abi.KindEphemeral}

func detect(f *codec.File) string {
	o := f.Probe(f.First, "the line")
	if o.Str("type") == "session" && o.Is("id", '"') {
		return ""
	}
	return "the first line is not of type session"
}

// line is one entry of a session.
type line struct {
	codec.Link // of id and parentId; Main are the entries on the way to the leaf
	typ, time  string
	target     string // of a label and an edit: the id of the entry it belongs to
	edited     int    // the line of the entry that an edit belongs to, -1 for none
	omitted    bool   // an edit leaves the message out
	kept       string // of a compaction: the id or the index of the first entry kept
	keptAt     jsondoc.Span
}

func read(f *codec.File) *codec.Log {
	d := &tree{Log: f.LineLog()}
	d.Args, d.Result, d.Prepare = codec.ObjectArgs, writeResult, d.prepare
	d.Each("the line", lineKeys, func(i int, o *jsondoc.Object) {
		l := readLine(o)
		switch {
		case i == 0 && l.typ != "session":
			o.Fail(o.At.Start, `the first line is {"type":"session","id":...}`, "the session's own line is not there")
		case i == 0:
			d.Session, d.Model = l.ID, o.Str("modelId")
			version, _ := strconv.Atoi(o.Scalar("version"))
			d.linked = version >= 2
		}
		d.lines = append(d.lines, l)
	})
	d.link()
	for i := range d.lines {
		if d.lines[i].Main && d.Err() == nil {
			d.read(i, f.Open(d.Recs[i], "the line", lineKeys...))
		}
	}
	d.supersede()
	return d.Log
}

// readLine reads what an entry says outside its message.
func readLine(o *jsondoc.Object) line {
	l := line{typ: o.Str("type"), edited: -1}
	l.ID, l.Parent, l.time, l.At = o.Str("id"), o.Str("parentId"), o.Scalar("timestamp"), o.Raw("parentId")
	switch l.typ {
	case "label", "context_edit":
		l.target = o.Str("targetId")
	case "compaction":
		key := o.Either("firstKeptEntryIndex", "firstKeptEntryId")
		l.kept, l.keptAt = o.Scalar(key), o.Raw(key)
	}
	return l
}

// read reads the message of entry i.
func (d *tree) read(i int, o *jsondoc.Object) {
	switch d.lines[i].typ {
	case "message":
		if !o.Value("message").OK() {
			o.Fail(o.At.Start, `an entry of type message has a "message"`, "no message in an entry of type message")
			return
		}
		d.message(i, o.Sub("message", messageKeys...))
	case "compaction":
		d.add(i, abi.Message{Role: abi.RoleUser, Kind: abi.KindSummary, Content: abi.Text(o.Str("summary"))})
	case "branch_summary":
		d.synthetic(i, o)
	case "custom_message":
		d.custom(i, o)
	case "model_change":
		d.NoteModel(o.Str("modelId"))
	case "context_edit":
		d.edit(i, o)
	}
}

// edit reads what entry i says that the model sees of an earlier one.
func (d *tree) edit(i int, o *jsondoc.Object) {
	of := d.lines[i].edited
	if of < 0 || of >= i || !d.HasMessage(of) {
		return
	}
	if d.lines[of].omitted = !o.Is("replacement", '{'); d.lines[of].omitted {
		return
	}
	o = o.Sub("replacement", "content")
	m := d.Messages[d.MessagesIn(of)[0]]
	switch m.Role {
	case abi.RoleAssistant:
		m.TakeCalls(&codec.Message{})
		d.says(i, m, o)
	case abi.RoleTool:
		m.Content, m.Output = readContent(o), codec.SlotOf(i, o, "content")
	default:
		m.Content = readContent(o)
	}
}

func (d *tree) add(i int, m abi.Message) *codec.Message {
	l := &d.lines[i]
	m.Timestamp = l.time
	if d.linked {
		m.ID = l.ID
	}
	return d.Add(i, m)
}

func (d *tree) synthetic(i int, o *jsondoc.Object) {
	d.add(i, abi.Message{Role: abi.RoleUser, Kind: abi.KindSynthetic, Content: abi.Text(o.Str("summary"))})
}

func (d *tree) message(i int, o *jsondoc.Object) {
	at := o.Raw("role")
	switch role := o.Str("role"); role {
	case "system":
		d.system(i, o)
	case "user":
		m := d.add(i, abi.Message{Role: abi.RoleUser, Content: readContent(o)})
		m.Kind = content.Framed(m.Content)
	case "assistant":
		d.answer(i, o)
	case "toolResult":
		m := d.add(i, abi.Message{Role: abi.RoleTool, ToolCallID: o.Str("toolCallId"), Name: o.Str("toolName"),
			IsError: o.Flag("isError"), Content: readContent(o)})
		m.Output = codec.SlotOf(i, o, "content")
	case "bashExecution":
		m := d.add(i, abi.Message{Role: abi.RoleUser, Kind: abi.KindBash, Content: abi.Text(bashText(o))})
		m.Printed = o.Str("output")
		if o.Flag("excludeFromContext") {
			m.Kind = abi.KindDisplayOnly
		}
	case "custom", "hookMessage":
		d.custom(i, o)
	case "branchSummary", "compactionSummary":
		d.synthetic(i, o)
	default:
		o.Fail(max(at.Start, o.At.Start), "use system, user, assistant, toolResult, bashExecution or custom",
			"role %s", jsondoc.Quoted(role))
	}
}

// system reads a system message: its own text, and that of each section which it sets.
func (d *tree) system(i int, o *jsondoc.Object) {
	m := d.add(i, abi.Message{Role: abi.RoleSystem})
	if m.Index > 0 {
		m.Kind = abi.KindInstructions
	}
	texts := []string{readContent(o).Text()}
	sections := o.Sub("sections")
	for _, f := range sections.Fields {
		if sections.Kind(f.Value) == '"' {
			texts = append(texts, sections.Unquote(f.Value))
		}
	}
	texts = slices.DeleteFunc(texts, func(text string) bool { return text == "" })
	m.Content = abi.Text(strings.Join(texts, "\n\n"))
}

func (d *tree) custom(i int, o *jsondoc.Object) {
	m := d.add(i, abi.Message{Role: abi.RoleUser, Content: readContent(o)})
	kind := abi.Kind(o.Str("customType"))
	switch framed := content.Framed(m.Content); {
	case kind == systemType:
		m.Role = abi.RoleSystem
	case slices.Contains(customKinds, kind):
		m.Kind = kind
	case framed != "":
		m.Kind = framed
	default:
		m.Kind = abi.KindSynthetic
	}
}

func (d *tree) answer(i int, o *jsondoc.Object) {
	m := d.add(i, abi.Message{Role: abi.RoleAssistant})
	d.NoteModel(o.Str("model"))
	d.says(i, m, o)
}

// says reads what an answer in entry i says and calls.
func (d *tree) says(i int, m *codec.Message, o *jsondoc.Object) {
	if !o.Is("content", '[') {
		m.Content = codec.Content(o, "content")
		return
	}
	m.Content = readBlocks(o, func(b *jsondoc.Object) bool {
		if b.Str("type") != "toolCall" {
			return false
		}
		m.Call(i, b, b.Str("id"), b.Str("name"), "arguments")
		return true
	})
}

// readContent reads a string or a list of blocks.
func readContent(o *jsondoc.Object) abi.Content {
	if !o.Is("content", '[') {
		return codec.Content(o, "content")
	}
	return readBlocks(o, func(*jsondoc.Object) bool { return false })
}

// readBlocks reads a list of blocks, without those that are calls.
func readBlocks(o *jsondoc.Object, isCall func(b *jsondoc.Object) bool) abi.Content {
	var parts []abi.Part
	for _, at := range o.List("content") {
		if b := o.Child(at, "a content block", blockKeys...); o.Err() == nil && !isCall(b) {
			parts = append(parts, readPart(b))
		}
	}
	return content.FromParts(parts)
}

// readPart reads a block in the form of the Messages API.
func readPart(b *jsondoc.Object) abi.Part {
	switch typ := b.Str("type"); typ {
	case "text":
		return abi.TextPart(b.Str("text"))
	case "thinking":
		return content.Thinking(b.Str("thinking"), b.Str("thinkingSignature"))
	case "image":
		source := jsondoc.Obj("type", "base64", "media_type", b.Str("mimeType"), "data", b.Str("data"))
		return abi.RawPart(typ, jsondoc.Obj("type", typ, "source", source))
	default:
		return abi.RawPart(typ, jsondoc.Compact(b.Bytes(b.At)))
	}
}

// bashText is the text that pi shows the model of a command the person ran.
func bashText(o *jsondoc.Object) string {
	text := "Ran `" + o.Str("command") + "`\n"
	if output := o.Str("output"); output != "" {
		text += "```\n" + output + "\n```"
	} else {
		text += "(no output)"
	}
	if code := o.Scalar("exitCode"); o.Flag("cancelled") {
		text += "\n\n(command cancelled)"
	} else if code != "" && code != "0" {
		text += "\n\nCommand exited with code " + code
	}
	if path := o.Str("fullOutputPath"); o.Flag("truncated") && path != "" {
		text += "\n\n[Output truncated. Full output: " + path + "]"
	}
	return text
}
