package transcript

import (
	"bytes"

	"github.com/kagewasm/kagewasm/abi"
)

// piReader makes messages of the entries on the way to the leaf.
type piReader struct {
	doc *piDoc
	d   *decoded
}

func (r *piReader) line(i int) error {
	o := r.doc.src.object(r.doc.recs[i], "the line", piLineKeys...)
	switch r.doc.lines[i].typ {
	case "message":
		at, ok := o.value("message")
		if !ok {
			o.fail(o.at.start, `an entry of type message has a "message"`, "no message in an entry of type message")
			break
		}
		m := o.child(at, `"message"`, piMessageKeys...)
		r.message(i, m)
		o.adopt(m)
	case "compaction":
		r.add(i, abi.Message{Role: abi.RoleUser, Kind: abi.KindSummary, Content: abi.Text(o.str("summary"))})
	case "branch_summary":
		r.add(i, abi.Message{Role: abi.RoleUser, Kind: abi.KindSynthetic, Content: abi.Text(o.str("summary"))})
	case "custom_message":
		r.custom(i, o)
	case "model_change":
		if model := o.str("modelId"); model != "" {
			r.d.model = model
		}
	}
	return o.err
}

func (r *piReader) add(i int, m abi.Message) *abi.Message {
	l := &r.doc.lines[i]
	m.Timestamp = l.time
	if r.doc.tree {
		m.ID = l.id
	}
	r.d.messages = append(r.d.messages, m)
	r.doc.add(i, slots{})
	return &r.d.messages[len(r.d.messages)-1]
}

func (r *piReader) message(i int, o *object) {
	at, _ := o.raw("role")
	switch role := o.str("role"); role {
	case "user":
		m := r.add(i, abi.Message{Role: abi.RoleUser, Content: o.piContent()})
		m.Kind = framed(m.Content)
	case "assistant":
		r.answer(i, o)
	case "toolResult":
		r.add(i, abi.Message{Role: abi.RoleTool, ToolCallID: o.str("toolCallId"), Name: o.str("toolName"),
			IsError: o.flag("isError"), Content: o.piContent()})
		r.doc.at[len(r.doc.at)-1].content = o.slot(i, "content")
	case "bashExecution":
		m := r.add(i, abi.Message{Role: abi.RoleUser, Kind: abi.KindBash, Content: abi.Text(o.piBash())})
		if o.flag("excludeFromContext") {
			m.Kind = abi.KindDisplayOnly
		}
	case "custom", "hookMessage":
		r.custom(i, o)
	case "branchSummary", "compactionSummary":
		r.add(i, abi.Message{Role: abi.RoleUser, Kind: abi.KindSynthetic, Content: abi.Text(o.str("summary"))})
	default:
		o.fail(max(at.start, o.at.start), "use user, assistant, toolResult, bashExecution or custom", "role %s", quoted(role))
	}
}

func (r *piReader) custom(i int, o *object) {
	m := r.add(i, abi.Message{Role: abi.RoleUser, Content: o.piContent()})
	switch kind := abi.Kind(o.str("customType")); kind {
	case piSystem:
		m.Role = abi.RoleSystem
	case abi.KindSummary, abi.KindInjected, abi.KindMeta, abi.KindInstructions, abi.KindBash, abi.KindConsoleOutput,
		abi.KindDisplayOnly, abi.KindBookmark, abi.KindMetadata, abi.KindEphemeral:
		m.Kind = kind
	default:
		if m.Kind = framed(m.Content); m.Kind == "" {
			m.Kind = abi.KindSynthetic
		}
	}
}

func (r *piReader) answer(i int, o *object) {
	m := r.add(i, abi.Message{Role: abi.RoleAssistant})
	if model := o.str("model"); model != "" {
		r.d.model = model
	}
	if !o.is("content", '[') {
		m.Content = o.content("content")
		return
	}
	at := &r.doc.at[len(r.doc.at)-1]
	var parts []abi.Part
	for _, block := range o.list("content") {
		b := o.child(block, "a content block", piBlockKeys...)
		if b.str("type") == "toolCall" {
			m.ToolCalls = append(m.ToolCalls, abi.ToolCall{ID: b.str("id"), Name: b.str("name"), Arguments: b.arguments("arguments")})
			at.args = append(at.args, b.slot(i, "arguments"))
		} else if b.err == nil {
			parts = append(parts, b.piPart())
		}
		o.adopt(b)
	}
	m.Content = plain(parts)
}

// piContent reads a string or a list of blocks.
func (o *object) piContent() abi.Content {
	if !o.is("content", '[') {
		return o.content("content")
	}
	var parts []abi.Part
	for _, at := range o.list("content") {
		b := o.child(at, "a content block", piBlockKeys...)
		if parts = append(parts, b.piPart()); b.err != nil {
			o.adopt(b)
			return abi.Content{}
		}
	}
	return plain(parts)
}

// piPart reads a block in the form of the Messages API.
func (o *object) piPart() abi.Part {
	switch typ := o.str("type"); typ {
	case "text":
		return abi.TextPart(o.str("text"))
	case "thinking":
		return abi.RawPart(typ, new(builder).str("type", typ).str("thinking", o.str("thinking")).
			maybe("signature", o.str("thinkingSignature")).bytes())
	case "image":
		source := new(builder).str("type", "base64").str("media_type", o.str("mimeType")).str("data", o.str("data"))
		return abi.RawPart(typ, new(builder).str("type", typ).raw("source", source.bytes()).bytes())
	default:
		return abi.RawPart(typ, compacted(o.src.bytes(o.at)))
	}
}

// piBash is the text that pi shows the model of a command the person ran.
func (o *object) piBash() string {
	var b bytes.Buffer
	b.WriteString("Ran `" + o.str("command") + "`\n")
	if output := o.str("output"); output != "" {
		b.WriteString("```\n" + output + "\n```")
	} else {
		b.WriteString("(no output)")
	}
	if code := o.scalar("exitCode"); o.flag("cancelled") {
		b.WriteString("\n\n(command cancelled)")
	} else if code != "" && code != "0" {
		b.WriteString("\n\nCommand exited with code " + code)
	}
	if path := o.str("fullOutputPath"); o.flag("truncated") && path != "" {
		b.WriteString("\n\n[Output truncated. Full output: " + path + "]")
	}
	return b.String()
}
