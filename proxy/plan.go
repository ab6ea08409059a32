package proxy

import (
	"bytes"
	"slices"

	"github.com/kagewasm/kagewasm/abi"
)

// plan is what compactions made of the first elements of a conversation. As the client
// knows nothing of it and sends the whole each time, it is applied to every request, with
// the same bytes, so that the provider's cache keeps serving the beginning.
type plan struct {
	// cut says that it is about less than its compaction was made of: what goes on from it is a session of its own.
	cut bool
	// session and record name the conversation in the store, and its last compaction.
	session, record string
	// elements and messages are how much of the client's conversation the plan is about,
	// behind the leading system messages.
	elements, messages int
	pieces             []piece
	// order are the messages behind the leading system ones, added those among them that
	// the client does not have, or has with longer text.
	order []string
	added map[string]abi.Message
}

// piece is a run of the client's elements that stays as the client sends it, or else text
// that stands in the place of others.
type piece struct {
	from, to int
	text     []byte
}

// begins is the first element of the client's from which on all stay as they came. What follows may be another one: the
// plan is about what is before it.
func (p *plan) begins() int {
	if n := len(p.pieces); n > 0 && p.pieces[n-1].text == nil && p.pieces[n-1].to == p.elements {
		return p.pieces[n-1].from
	}
	return p.elements
}

// cutTo is the plan for a conversation that shares the first elements alone, which are so many messages; nil where more
// than the end of it is another.
func (p *plan) cutTo(elements, messages int) *plan {
	gone := p.messages - messages
	if elements < p.begins() || messages < 0 || gone < 0 || gone > len(p.order) {
		return nil
	}
	is := *p
	is.order = slices.Clip(p.order[:len(p.order)-gone])
	for _, id := range p.order[len(is.order):] {
		if _, other := p.added[id]; other {
			return nil
		}
	}
	is.pieces = slices.Clone(p.pieces)
	if last := len(is.pieces) - 1; is.pieces[last].from < elements {
		is.pieces[last].to = elements
	} else {
		is.pieces = is.pieces[:last]
	}
	is.elements, is.messages, is.cut = elements, messages, true
	return &is
}

// apply writes a body with the plan applied.
func (p *plan) apply(d *document) []byte {
	els := d.els[d.lead:]
	inner := span{d.list.start + 1, d.list.end - 1}
	out := make([]byte, 0, len(d.doc))
	first := true
	add := func(text []byte) {
		if !first {
			out = append(out, ',')
		}
		out, first = append(out, text...), false
	}
	run := func(list []span) {
		if len(list) > 0 {
			add(d.doc[list[0].start:list[len(list)-1].end])
		}
	}
	out = append(out, d.doc[:inner.start]...)
	run(d.els[:d.lead])
	for _, pc := range p.pieces {
		if pc.text != nil {
			add(pc.text)
		} else {
			run(els[pc.from:pc.to])
		}
	}
	run(els[p.elements:])
	return append(out, d.doc[inner.end:]...)
}

// piecesOf says what became of the elements of a body, by what was written in their
// place. It is nil where anything else of the body is another.
func (w *wire) piecesOf(was, is *document) []piece {
	if !bytes.Equal(was.doc[:was.list.start], is.doc[:is.list.start]) ||
		!bytes.Equal(was.doc[was.list.end:], is.doc[is.list.end:]) || was.lead != is.lead {
		return nil
	}
	at := make(map[string][]int)
	for i, el := range was.els[was.lead:] {
		text := string(el.of(was.doc))
		at[text] = append(at[text], i)
	}
	var pieces []piece
	next := 0
	for _, el := range is.els[is.lead:] {
		text := el.of(is.doc)
		places := at[string(text)]
		k, _ := slices.BinarySearch(places, next)
		switch last := len(pieces) - 1; {
		case k == len(places):
			pieces = append(pieces, piece{text: w.unmarked(text)})
			continue
		case last >= 0 && pieces[last].text == nil && pieces[last].to == places[k]:
			pieces[last].to++
		default:
			pieces = append(pieces, piece{from: places[k], to: places[k] + 1})
		}
		next = places[k] + 1
	}
	return pieces
}

// unmarked is an element without cache marks: they were for the request in which it
// came, and providers take few in one.
func (w *wire) unmarked(element []byte) []byte {
	d := &document{lexer: lexer{doc: element}}
	if !w.marks || !bytes.Contains(element, []byte(mark)) || element[0] != '{' {
		return bytes.Clone(element)
	}
	var cut []span
	d.members(span{0, len(element)}, func(key, value span) {
		if string(key.of(element)) != `"content"` {
			return
		}
		for _, block := range d.elements(value) {
			if element[block.start] == '{' {
				d.members(block, func(key, value span) {
					if string(key.of(element)) == mark {
						cut = append(cut, span{key.start, value.end})
					}
				})
			}
		}
	})
	out := make([]byte, 0, len(element))
	from := 0
	for _, c := range cut {
		before := bytes.TrimRight(element[from:c.start], " \t\r\n")
		if n := len(before); n > 0 && before[n-1] == ',' {
			out = append(out, before[:n-1]...)
		} else { // the first of its block
			out = append(out, before...)
			if c.end = d.space(c.end); d.at(c.end) == ',' {
				c.end++
			}
		}
		from = c.end
	}
	return append(out, element[from:]...)
}
