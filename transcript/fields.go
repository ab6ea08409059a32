package transcript

import "github.com/kagewasm/kagewasm/abi"

// role reads one of the four roles.
func (o *object) role() abi.Role {
	at, ok := o.value("role")
	if !ok {
		o.fail(o.at.start, "give it a role: system, user, assistant or tool", `no "role"`)
		return ""
	}
	r := abi.Role(o.str("role"))
	if o.err == nil && !r.Valid() {
		o.fail(at.start, "use system, user, assistant or tool", "role %s", quoted(string(r)))
	}
	return r
}

// content reads a string or a list of parts.
func (o *object) content(key string) (c abi.Content) {
	at, ok := o.value(key)
	if !ok {
		return c
	}
	switch o.src.data[at.start] {
	case '"':
		return abi.Text(unquote(o.src.bytes(at)))
	case '[':
		return o.parts(o.src.elements(at))
	}
	o.fail(at.start, "write it as a string or a list of parts", "%s is neither a string nor a list of parts", quoted(key))
	return c
}

// parts reads a list of parts.
func (o *object) parts(list []span) abi.Content {
	parts := make([]abi.Part, 0, len(list))
	for _, at := range list {
		if c := o.src.data[at.start]; c != '{' && c != '"' {
			o.fail(at.start, "write it as an object with a \"type\"", "a part that is not an object")
			return abi.Content{}
		}
		if o.src.data[at.start] == '{' {
			o.adopt(o.child(at, "a part", "type", "text"))
		}
		var p abi.Part
		if err := p.UnmarshalJSON(o.src.bytes(at)); err != nil {
			o.fail(at.start, `a part is an object with a "type", and "text" in one of type text`, "a part that cannot be read")
		}
		parts = append(parts, p)
	}
	return abi.Parts(parts...)
}

// arguments reads a string, or takes the text of any other value.
func (o *object) arguments(key string) string {
	at, ok := o.value(key)
	switch {
	case !ok:
		return ""
	case o.src.data[at.start] == '"':
		return unquote(o.src.bytes(at))
	}
	return string(compacted(o.src.bytes(at)))
}

// scalar reads a string, or takes the text of a number.
func (o *object) scalar(key string) string {
	at, ok := o.value(key)
	if ok && (o.src.data[at.start] == '-' || o.src.data[at.start] >= '0' && o.src.data[at.start] <= '9') {
		return string(o.src.bytes(at))
	}
	return o.str(key)
}

// child opens an object inside o.
func (o *object) child(at span, what string, known ...string) *object {
	return o.src.object(at, what, known...)
}

// adopt takes over the error of a child.
func (o *object) adopt(c *object) {
	if o.err == nil {
		o.err = c.err
	}
}
