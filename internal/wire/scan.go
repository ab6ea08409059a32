package wire

import (
	"errors"
	"strconv"

	"github.com/kagewasm/kagewasm/internal/jsonlex"
	"github.com/kagewasm/kagewasm/internal/strictjson"
)

// decoder reads one document. The first fault ends it: from then on there is
// nothing left to read, and every value is zero.
type decoder struct {
	doc []byte
	pos int
	err error
	// space is where texts with escapes are written; see unescape.
	space []byte
	// within is nil where the document is trusted, as hosts are by guests.
	within *within
}

func (d *decoder) fail(what string) {
	if d.err == nil {
		d.err = &strictjson.Error{Offset: d.pos, Err: errors.New(what)}
		d.pos = len(d.doc)
	}
}

// peek skips white space and returns the byte ahead, or 0, which begins
// nothing, at the end. Hosts write no white space.
func (d *decoder) peek() byte {
	if d.pos < len(d.doc) && d.doc[d.pos] > ' ' {
		return d.doc[d.pos]
	}
	return d.skipSpace()
}

func (d *decoder) skipSpace() byte {
	for d.pos < len(d.doc) {
		switch c := d.doc[d.pos]; c {
		case ' ', '\t', '\n', '\r':
			d.pos++
		default:
			return c
		}
	}
	return 0
}

// end checks that nothing follows the document.
func (d *decoder) end() error {
	if d.peek(); d.pos < len(d.doc) {
		d.fail("trailing data after the document")
	}
	return d.err
}

// next reports whether the container that ends with the given byte has another
// element behind the n read so far, and goes to it.
func (d *decoder) next(n int, end byte) bool {
	c := d.peek()
	if c == end {
		d.pos++
		return false
	}
	if n > 0 {
		if c != ',' {
			d.fail("a list or an object that does not go on or end")
			return false
		}
		d.pos++
	}
	if d.within != nil {
		d.within.step(d)
	}
	return d.err == nil
}

// null reports whether the value ahead is null, and passes it.
func (d *decoder) null() bool { return d.peek() == 'n' && d.literal("null") }

func (d *decoder) literal(lit string) bool {
	if rest := d.doc[d.pos:]; len(rest) < len(lit) || string(rest[:len(lit)]) != lit {
		d.fail("not a value")
		return false
	}
	d.pos += len(lit)
	return true
}

func (d *decoder) bool() bool {
	switch d.peek() {
	case 't':
		return d.literal("true")
	case 'f':
		d.literal("false")
	case 'n':
		d.literal("null")
	default:
		mistyped(d, "true or false")
	}
	return false
}

func (d *decoder) int() int {
	n, i := 0, d.pos
	for i < len(d.doc) && d.doc[i]-'0' <= 9 && i < d.pos+9 {
		n = 10*n + int(d.doc[i]-'0')
		i++
	}
	// A few digits and then the next field: all but the odd ones.
	if i > d.pos && d.doc[d.pos] != '0' && i < len(d.doc) && (d.doc[i] == ',' || d.doc[i] == '}') {
		d.pos = i
		return n
	}
	if d.null() {
		return 0
	}
	n64, err := strconv.ParseInt(d.number(), 10, strconv.IntSize)
	if err != nil {
		d.fail("not a whole number, or out of range")
	}
	return int(n64)
}

func (d *decoder) float() float64 {
	if d.null() {
		return 0
	}
	f, err := strconv.ParseFloat(d.number(), 64)
	if err != nil {
		d.fail("a number out of range")
	}
	return f
}

// number passes a number and returns its text.
func (d *decoder) number() string {
	d.peek()
	rest := d.doc[d.pos:]
	n := jsonlex.Number(rest)
	if n == 0 {
		mistyped(d, "a number")
	}
	d.pos += n
	return share(rest[:n])
}

// raw passes any value and returns its bytes.
func (d *decoder) raw() []byte {
	d.peek()
	start := d.pos
	d.skip(0)
	if d.err != nil {
		return nil
	}
	return d.doc[start:d.pos:d.pos]
}

// skip passes a value that stands inside depth containers.
func (d *decoder) skip(depth int) {
	switch c := d.peek(); c {
	case '"':
		d.skipText()
	case '{', '[':
		if depth == strictjson.MaxDepth {
			d.fail("nested deeper than " + strconv.Itoa(strictjson.MaxDepth))
			return
		}
		d.pos++
		for n := 0; d.next(n, c+2); n++ { // '[' + 2 is ']', and so with '{'
			if c == '{' {
				d.skipKey()
			}
			d.skip(depth + 1)
		}
	case 't':
		d.literal("true")
	case 'f':
		d.literal("false")
	case 'n':
		d.literal("null")
	default:
		d.number()
	}
}

func (d *decoder) skipKey() {
	if d.peek() != '"' {
		d.fail("a key that is not a string")
		return
	}
	d.skipText()
	d.colon()
}

func (d *decoder) colon() {
	if d.peek() != ':' {
		d.fail("a key without a value")
		return
	}
	d.pos++
}
