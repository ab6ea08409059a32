package transcript

import (
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

// geminiParts are the parts of Gemini's contents. They have no type: it is the
// key that they hold their data under.
type geminiParts struct {
	rec  int
	seen map[string]int // functions that the record names without an id
}

var geminiPartKeys = []string{"text", "thought", "thoughtSignature", "thought_signature", "functionCall", "function_call",
	"functionResponse", "function_response", "inlineData", "inline_data", "fileData", "file_data"}

// otherSigner is the signature that stands in for one on a call that another
// provider's model made; the API documents it.
const otherSigner = "Y29udGV4dF9lbmdpbmVlcmluZ19pc190aGVfd2F5X3RvX2dv"

// either is the key of the two that the object has, and the first where it has
// none.
func (o *object) either(camel, snake string) string {
	if !o.has(camel) && o.has(snake) {
		return snake
	}
	return camel
}

func (*geminiParts) open(parent *object, at span) (*object, blockClass) {
	b := parent.child(at, "a part", geminiPartKeys...)
	switch {
	case b.is(b.either("functionCall", "function_call"), '{'):
		return b, blockCall
	case b.is(b.either("functionResponse", "function_response"), '{'):
		return b, blockResult
	}
	return b, blockPart
}

func (*geminiParts) signed(b *object) bool {
	s := b.str(b.either("thoughtSignature", "thought_signature"))
	return s != "" && s != otherSigner
}

// function opens the object under a key, which names a function.
func (*geminiParts) function(b *object, camel, snake string, known ...string) *object {
	at, _ := b.value(b.either(camel, snake))
	f := b.child(at, "the "+camel, append(known, "id", "name")...)
	if f.err == nil && !f.has("name") {
		f.fail(at.start, "give it the name of a function", "a %s without a name", camel)
	}
	return f
}

// id is the id of a call or a response in a record. Where there is none it is
// the function's name, with #2, #3, ... for the next ones in the record.
func (p *geminiParts) id(f *object, rec int) string {
	if id := f.str("id"); id != "" {
		return id
	}
	if p.rec != rec || p.seen == nil {
		p.rec, p.seen = rec, make(map[string]int)
	}
	name := f.str("name")
	p.seen[name]++
	return ordinalID(legacyCall(name), p.seen[name]-1)
}

// isMadeUp reports whether an id is one that follows from a function's name.
func isMadeUp(id, name string) bool {
	nth, ok := strings.CutPrefix(id, legacyCall(name))
	return ok && (nth == "" || nth[0] == '#')
}

func (p *geminiParts) call(b *object, rec int) (abi.ToolCall, slot, bool) {
	f := p.function(b, "functionCall", "function_call", "args")
	call := abi.ToolCall{ID: p.id(f, rec), Name: f.str("name"), Arguments: f.arguments("args")}
	s := slot{}
	if f.err == nil {
		s = f.slot(rec, "args")
	}
	b.adopt(f)
	return call, s, p.signed(b)
}

func (p *geminiParts) result(b *object, rec int) (abi.Message, slot) {
	f := p.function(b, "functionResponse", "function_response", "response")
	m := abi.Message{Role: abi.RoleTool, ToolCallID: p.id(f, rec), Name: f.str("name")}
	s := slot{}
	if f.err == nil {
		m.Content, m.IsError, s = f.geminiOutput(rec)
	}
	b.adopt(f)
	return m, s
}

// geminiOutput reads what a function returned.
func (f *object) geminiOutput(rec int) (c abi.Content, failed bool, s slot) {
	s = f.slot(rec, "response")
	at, ok := f.value("response")
	if !ok || f.src.data[at.start] != '{' {
		return abi.Text(f.arguments("response")), false, slot{rec: s.rec, at: s.at, key: s.key}
	}
	response := f.child(at, "the response")
	if len(response.fields) == 1 {
		key := string(response.fields[0].key)
		inner := response.slot(rec, key)
		if failed = key == "error"; inner.text {
			return abi.Text(response.str(key)), failed, inner
		}
		if failed { // and still so when it is replaced
			inner.text = true
			return abi.Text(response.arguments(key)), failed, inner
		}
	}
	return abi.Text(f.arguments("response")), failed, s
}

// geminiResult writes what a function returned, in place of what stood there:
// a text, or the whole response.
func geminiResult(c abi.Content, was slot) []byte {
	if was.text {
		return quote(plainText(c))
	}
	return new(builder).str("output", plainText(c)).bytes()
}

// part reads a part as one with a type.
func (p *geminiParts) part(b *object) (abi.Part, bool) {
	signed := p.signed(b)
	if b.is("text", '"') {
		if b.flag("thought") {
			thinking := new(builder).str("type", "thinking").str("thinking", b.str("text"))
			return abi.RawPart("thinking", thinking.bytes()), signed
		}
		return abi.TextPart(b.str("text")), signed
	}
	for _, keys := range [][2]string{{"inlineData", "inline_data"}, {"fileData", "file_data"}} {
		if at, ok := b.value(b.either(keys[0], keys[1])); ok {
			raw := new(builder).str("type", keys[0]).raw(keys[0], compacted(b.src.bytes(at)))
			return abi.RawPart(keys[0], raw.bytes()), signed
		}
	}
	typ, raw := "part", new(builder)
	for i := len(b.fields) - 1; i >= 0; i-- {
		if k := string(b.fields[i].key); k != "thoughtSignature" && k != "thought_signature" && k != "thought" && k != "type" {
			typ = k
		}
	}
	raw.str("type", typ)
	for _, f := range b.fields {
		if string(f.key) != "type" {
			raw.raw(string(f.key), compacted(b.src.bytes(f.value)))
		}
	}
	return abi.RawPart(typ, raw.bytes()), signed
}
