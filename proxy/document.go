package proxy

import (
	"encoding/json"

	"github.com/kagewasm/kagewasm/internal/lists"
)

// document is the body of a request: where its messages stand, and what else is asked of
// it. The bytes stay as they came.
type document struct {
	lexer
	fields map[string]span
	names  map[string]span // the keys of the fields
	list   span
	// els are the elements of the list. The first lead of them are system messages, which
	// some clients rewrite for each request: they are no part of what a conversation is
	// known by.
	els  []span
	lead int
}

// read finds the messages of a body. It is nil where there are none, or where the body
// is no JSON that everybody reads alike.
func (w *wire) read(body []byte) *document {
	d := &document{lexer: lexer{doc: body}}
	whole := span{d.space(0), 0}
	if d.at(whole.start) != '{' {
		return nil
	}
	whole.end = d.value(whole.start)
	if d.bad || d.space(whole.end) != len(body) {
		return nil
	}
	d.fields, d.names = d.object(whole)
	d.list = d.fields[w.list]
	d.els = d.elements(d.list)
	for d.lead < len(d.els) && d.isSystem(d.els[d.lead]) {
		d.lead++
	}
	if d.bad || len(d.els) == 0 {
		return nil
	}
	return d
}

// isSystem reports whether an element is a system message.
func (d *document) isSystem(at span) bool {
	role := d.member(at, "role")
	return role == "system" || role == "developer"
}

// member is a text in an element, empty where there is none.
func (d *document) member(at span, name string) (text string) {
	if d.doc[at.start] == '{' {
		d.members(at, func(key, value span) {
			if string(key.of(d.doc)) == `"`+name+`"` {
				text = d.string(value)
			}
		})
	}
	return text
}

// textsOf are elements as they came.
func (d *document) textsOf(els []span) [][]byte {
	return lists.Map(els, func(at span) []byte { return at.of(d.doc) })
}

// text is a field that is a string.
func (d *document) text(key string) string { return d.string(d.fields[key]) }

// is reports whether a field has that JSON.
func (d *document) is(key, value string) bool { return string(d.fields[key].of(d.doc)) == value }

// has reports whether a field is there and not null.
func (d *document) has(key string) bool { return d.fields[key].ok() && !d.is(key, "null") }

// most is the largest of the numbers under some keys.
func (d *document) most(keys ...string) (n int) {
	for _, key := range keys {
		n = max(n, d.number(d.fields[key]))
	}
	return n
}

func unquote(lit []byte) (text string) {
	if json.Unmarshal(lit, &text) != nil {
		return ""
	}
	return text
}
