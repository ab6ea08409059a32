package codec

import (
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/transcript/internal/content"
	"github.com/kagewasm/kagewasm/transcript/internal/jsondoc"
)

// Role reads one of the four roles.
func Role(o *jsondoc.Object) abi.Role {
	at := o.Value("role")
	if !at.OK() {
		o.Fail(o.At.Start, "give it a role: system, user, assistant or tool", `no "role"`)
		return ""
	}
	r := abi.Role(o.Str("role"))
	if o.Err() == nil && !r.Valid() {
		o.Fail(at.Start, "use system, user, assistant or tool", "role %s", jsondoc.Quoted(string(r)))
	}
	return r
}

// Content reads a string or a list of parts.
func Content(o *jsondoc.Object, key string) (c abi.Content) {
	at := o.Value(key)
	switch o.Kind(at) {
	case 0:
		return c
	case '"':
		return abi.Text(o.Unquote(at))
	case '[':
		return abi.Parts(lists.Map(o.Elements(at), func(part jsondoc.Span) abi.Part { return Part(o, part) })...)
	}
	o.Fail(at.Start, "write it as a string or a list of parts", "%s is neither a string nor a list of parts",
		jsondoc.Quoted(key))
	return c
}

// Part reads a part: an object with a type, or a text.
func Part(o *jsondoc.Object, at jsondoc.Span) (p abi.Part) {
	switch o.Kind(at) {
	case '"':
	case '{':
		o.Child(at, "a part", "type", "text")
	default:
		o.Fail(at.Start, "write it as an object with a \"type\"", "a part that is not an object")
		return p
	}
	if err := p.UnmarshalJSON(o.Bytes(at)); err != nil {
		o.Fail(at.Start, `a part is an object with a "type", and "text" in one of type text`,
			"a part that cannot be read")
	}
	return p
}

// Arguments reads a string, or returns any other value as JSON text.
func Arguments(o *jsondoc.Object, key string) string {
	at := o.Value(key)
	switch o.Kind(at) {
	case 0:
		return ""
	case '"':
		return o.Unquote(at)
	}
	return string(jsondoc.Compact(o.Bytes(at)))
}

// TextArgs serves as [Log.Args] where arguments are always text.
func TextArgs(text string, _ Slot) []byte { return jsondoc.Quote(text) }

// ObjectArgs serves as [Log.Args] where arguments are always an object.
func ObjectArgs(text string, _ Slot) []byte { return content.ObjectArgs(text) }
