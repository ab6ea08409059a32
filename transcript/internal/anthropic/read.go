// Package anthropic is the format of the Messages API: a request body, its list of
// messages alone, or a recording. Each block of "system" is a system message. The
// format has no ids, times and kinds.
//
// A compaction block is the server's summary of everything before it, which the
// model no longer sees. It is a compaction_summary message of its own, and what
// follows it in the same message is another. If a new message comes to stand
// before it, the block is written as text; otherwise the model would not see the
// new message either. A block with encrypted_content, which the server alone can
// read, stays as it is: nothing is inserted before it.
package anthropic

import (
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/transcript/internal/codec"
	"github.com/kagewasm/kagewasm/transcript/internal/content"
	"github.com/kagewasm/kagewasm/transcript/internal/jsondoc"
)

const name = "anthropic"

// Format is the format of the Messages API.
var Format = codec.Format{Name: name, Detect: detect, Read: read, Write: write}

var (
	docKeys     = []string{"messages", "system", "model", "tools"}
	messageKeys = []string{"role", "content"}
	// ownKeys are keys of a body that no other format with a list of messages
	// has; ownBlocks are such types of a block.
	ownKeys = []string{"system", "thinking", "anthropic_version", "anthropic_beta", "stop_sequences",
		"context_management", "mcp_servers"}
	ownBlocks = []string{"tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use",
		"compaction", "image", "document"}
)

func detect(f *codec.File) string {
	doc := f.ProbeDocument()
	list, why := f.Body(doc, "messages")
	if why != "" {
		return why
	}
	marked := slices.ContainsFunc(ownKeys, doc.Has) || anyObject(doc, "tools", func(tool *jsondoc.Object) bool {
		return tool.Has("input_schema")
	})
	for _, at := range f.Elements(list) {
		if f.Kind(at) != '{' {
			return "a message that is not an object"
		}
		m := f.Probe(at, "the message")
		if r := m.Str("role"); r != "user" && r != "assistant" || m.Has("tool_calls") || m.Has("function_call") {
			return "a message of chat completions"
		}
		marked = marked || anyObject(m, "content", func(block *jsondoc.Object) bool {
			return slices.Contains(ownBlocks, block.Str("type"))
		})
	}
	if !marked {
		return "nothing in it that only the Messages API has"
	}
	return ""
}

// anyObject reports whether any element of the list under a key, if there is one,
// passes a test.
func anyObject(o *jsondoc.Object, key string, is func(*jsondoc.Object) bool) bool {
	return o.Is(key, '[') && slices.ContainsFunc(o.List(key), func(at jsondoc.Span) bool {
		return is(o.Probe(at, "an element"))
	})
}

func read(f *codec.File) *codec.Log {
	o := f.Document(docKeys...)
	l := f.BodyLog(o, `put the messages in a list under "messages"`, "messages")
	l.Entry, l.Args, l.Split, l.DropsThinking = writeMessage, codec.ObjectArgs, true, true
	readSystem(l, o)
	if answer := f.Answer("content", "model"); answer.Is("content", '[') {
		l.Append([]jsondoc.Span{answer.Value("content")}, `{"role":"assistant","content":`, "}")
		l.Model = answer.Str("model")
	}
	r := &codec.BlockReader{Log: l, Form: ReadBlock}
	for i := range l.Recs {
		readRecord(r, i)
	}
	r.CloseAnswer()
	l.Prepare = func(w *codec.Rewrite) { showSummaries(w, r.Summaries) }
	return l
}

// readSystem reads the system prompt, a text or a list of blocks.
func readSystem(l *codec.Log, o *jsondoc.Object) {
	at := o.Value("system")
	switch {
	case !at.OK():
	case o.Is("system", '['):
		l.Preface(o, "system", at, lists.Map(o.Elements(at), func(b jsondoc.Span) abi.Content {
			return content.FromParts([]abi.Part{codec.Part(o, b)})
		})...)
	default:
		l.Preface(o, "system", jsondoc.Span{}, abi.Text(o.Str("system")))
	}
}

// readRecord reads a message, or the blocks of a recorded answer.
func readRecord(r *codec.BlockReader, i int) {
	at := r.Recs[i]
	role, said, m := "assistant", at, r.None(at)
	if i < r.Inside() {
		m = r.Open(at, "the message", messageKeys...)
		said = m.Raw("content")
		if role = m.Str("role"); role != "user" && role != "assistant" {
			m.Fail(at.Start, `use user or assistant; the system prompt stands under "system"`,
				"role %s", jsondoc.Quoted(role))
		}
	}
	switch {
	case role == "user":
		r.ReadUser(i, m, "content")
	case r.Kind(said) == '[' && len(r.Elements(said)) > 0:
		r.CloseAnswer()
		r.ReadAnswer(i, said, m)
	default:
		r.CloseAnswer()
		r.Start(i, abi.Message{Role: abi.RoleAssistant, Content: codec.Content(m, "content")})
	}
}

// showSummaries writes the server's compactions as text where something new
// stands before them. What only the server can read stays.
func showSummaries(w *codec.Rewrite, summaries []codec.SummaryBlock) {
	for _, s := range summaries {
		if w.Stays(s.Index) && !isEncrypted(s.Content) && len(w.Insert) > 0 && w.Insert[0].Before(s.Message) {
			w.EditAt(s.Rec, s.At, content.TextPart(content.NonEmpty(s.Text())))
		}
	}
}
