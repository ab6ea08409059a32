package wire

import (
	"unicode/utf8"
	"unsafe"

	"github.com/kagewasm/kagewasm/internal/jsonlex"
)

// text reads a string; null is the empty one. Without escapes in it, it is the
// document's own bytes.
func (d *decoder) text() string {
	if d.peek() != '"' {
		if !d.null() {
			mistyped(d, "a text")
		}
		return ""
	}
	start := d.pos + 1
	end, ascii := jsonlex.Plain(d.doc, start)
	if end == len(d.doc) || d.doc[end] != '"' {
		return d.unescape(start)
	}
	d.pos = end + 1
	if ascii {
		return share(d.doc[start:end])
	}
	return valid(d.doc[start:end])
}

// valid is the text of b with every byte that is not UTF-8 replaced, as
// encoding/json does it.
func valid(b []byte) string {
	if utf8.Valid(b) {
		return share(b)
	}
	return string([]rune(share(b)))
}

const badText = "a string that does not end, a control character in it, or an escape that is none"

// share is a string of the same bytes, which must not change from then on.
func share(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// unescape reads the string whose text begins at start. It writes to d.space,
// which holds all such texts of a document: none gets longer by it, so there
// is always room for the rest.
func (d *decoder) unescape(start int) string {
	if d.space == nil {
		d.take(int64(len(d.doc)))
		d.space = make([]byte, len(d.doc)+8)
	}
	n, end, ascii, ok := jsonlex.Unescape(d.space, d.doc[start:])
	d.pos = start + end
	if !ok {
		d.fail(badText)
		return ""
	}
	d.pos++
	text := d.space[:n:n]
	d.space = d.space[n:]
	if ascii {
		return share(text)
	}
	return valid(text)
}

// skipText passes a string that stands ahead.
func (d *decoder) skipText() {
	for i := d.pos + 1; ; {
		i, _ = jsonlex.Plain(d.doc, i)
		if i < len(d.doc) && d.doc[i] == '"' {
			d.pos = i + 1
			return
		}
		size, _ := jsonlex.Escape(d.doc[i:])
		if size == 0 {
			d.pos = i
			d.fail(badText)
			return
		}
		i += size
	}
}
