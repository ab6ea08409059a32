package gemini

import (
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/transcript/internal/codec"
	"github.com/kagewasm/kagewasm/transcript/internal/content"
	"github.com/kagewasm/kagewasm/transcript/internal/jsondoc"
)

// Parts are the parts of Gemini's contents. They have no type: it is the key
// that they hold their data under.
type Parts struct {
	rec  int
	seen map[string]int // functions that the record names without an id
	// made are the ids of the calls of a function in the last record that calls it, by its name.
	made map[string]calls
}

type calls struct {
	rec int
	ids []string
}

var partKeys = []string{"text", "thought", "thoughtSignature", "thought_signature", "functionCall", "function_call",
	"functionResponse", "function_response", "inlineData", "inline_data", "fileData", "file_data"}

// otherSigner stands in for the signature of a call that another provider's model
// made. The API documents it.
const otherSigner = "Y29udGV4dF9lbmdpbmVlcmluZ19pc190aGVfd2F5X3RvX2dv"

// Read reads a part: see [codec.BlockReader].
func (p *Parts) Read(parent *jsondoc.Object, at jsondoc.Span, rec int, answer bool) codec.Block {
	b := parent.Child(at, "a part", partKeys...)
	isCall := b.Is(b.Either("functionCall", "function_call"), '{')
	switch {
	case isCall && answer:
		f := function(b, "functionCall", "function_call", "args")
		call := codec.CallBlock(rec, f, p.called(f, rec), f.Str("name"), "args")
		call.Signed = isSigned(b)
		return call
	case !isCall && !answer && b.Is(b.Either("functionResponse", "function_response"), '{'):
		return p.result(b, rec)
	}
	return codec.Block{Part: readPart(b), Signed: isSigned(b)}
}

func isSigned(b *jsondoc.Object) bool {
	s := b.Str(b.Either("thoughtSignature", "thought_signature"))
	return s != "" && s != otherSigner
}

// function opens the object under a key, which names a function.
func function(b *jsondoc.Object, camel, snake, own string) *jsondoc.Object {
	at := b.Value(b.Either(camel, snake))
	f := b.Child(at, "the "+camel, own, "id", "name")
	if !f.Has("name") {
		f.Fail(at.Start, "give it the name of a function", "a %s without a name", camel)
	}
	return f
}

// ID returns the id of a call or a response in a record. Without one it is the
// function's name, followed by #2, #3, ... for the next ones in the record.
func (p *Parts) ID(f *jsondoc.Object, rec int) string {
	if id := f.Str("id"); id != "" {
		return id
	}
	function := f.Str("name")
	return content.OrdinalID(content.FunctionID(function), p.nth(function, rec))
}

// nth returns how many times the record named a function before without an id.
func (p *Parts) nth(function string, rec int) int {
	if p.rec != rec || p.seen == nil {
		p.rec, p.seen = rec, make(map[string]int)
	}
	p.seen[function]++
	return p.seen[function] - 1
}

// called returns the id of a call.
func (p *Parts) called(f *jsondoc.Object, rec int) string {
	id, function := p.ID(f, rec), f.Str("name")
	if p.made == nil {
		p.made = make(map[string]calls)
	}
	c := p.made[function]
	if c.rec != rec {
		c = calls{rec: rec}
	}
	c.ids = append(c.ids, id)
	p.made[function] = c
	return id
}

// answers returns the id of the call that a response answers: without an id of its own it is the next call of its
// function, and of more responses than calls the last one.
func (p *Parts) answers(f *jsondoc.Object, rec int) string {
	function := f.Str("name")
	made := p.made[function].ids
	if f.Str("id") != "" || len(made) == 0 {
		return p.ID(f, rec)
	}
	return made[min(p.nth(function, rec), len(made)-1)]
}

// isMadeUp reports whether an id follows from a function's name.
func isMadeUp(id, function string) bool {
	nth, ok := strings.CutPrefix(id, content.FunctionID(function))
	return ok && (nth == "" || nth[0] == '#')
}

// result reads a functionResponse.
func (p *Parts) result(b *jsondoc.Object, rec int) codec.Block {
	f := function(b, "functionResponse", "function_response", "response")
	m := &abi.Message{Role: abi.RoleTool, ToolCallID: p.answers(f, rec), Name: f.Str("name")}
	text, key := f, "response"
	at := codec.SlotOf(rec, f, key)
	at.Text = false // any other value than an object goes as a whole
	if f.Is(key, '{') {
		if response := f.Child(f.Value(key), "the response"); len(response.Fields) == 1 {
			only := string(response.Fields[0].Key)
			inner := codec.SlotOf(rec, response, only)
			m.IsError = only == "error"
			if inner.Text || m.IsError { // it is still one when it is replaced
				inner.Text = true
				text, key, at = response, only, inner
			}
		}
	}
	m.Content = abi.Text(codec.Arguments(text, key))
	return codec.Block{Message: m, At: at}
}

// WriteResult writes what a function returned: the text, or the whole response,
// whichever stood there.
func WriteResult(c abi.Content, was codec.Slot) []byte {
	if was.Text {
		return jsondoc.Quote(content.Text(c))
	}
	return jsondoc.Obj("output", content.Text(c))
}

// readPart reads a part as one with a type.
func readPart(b *jsondoc.Object) abi.Part {
	if b.Is("text", '"') {
		if b.Flag("thought") {
			return content.Thinking(b.Str("text"), "")
		}
		return abi.TextPart(b.Str("text"))
	}
	for _, keys := range [][2]string{{"inlineData", "inline_data"}, {"fileData", "file_data"}} {
		if at := b.Value(b.Either(keys[0], keys[1])); at.OK() {
			return abi.RawPart(keys[0], jsondoc.Obj("type", keys[0], keys[0], jsondoc.Compact(b.Bytes(at))))
		}
	}
	typ := "part"
	var fields []any
	for _, f := range slices.Backward(b.Fields) {
		key := string(f.Key)
		if !slices.Contains([]string{"thoughtSignature", "thought_signature", "thought", "type"}, key) {
			typ = key
		}
	}
	for _, f := range b.Fields {
		if key := string(f.Key); key != "type" {
			fields = append(fields, key, jsondoc.Compact(b.Bytes(f.Value)))
		}
	}
	return abi.RawPart(typ, jsondoc.Obj(append([]any{"type", typ}, fields...)...))
}
