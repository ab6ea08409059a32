package wire

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// field is a field of what a P points to: its name in JSON and how it is read. P is the pointer, and not
// what it points to: the compiler writes a generic function once for all pointers, and anew for each struct,
// which took 100 KB of a guest.
type field[P any] struct {
	name string
	read func(d *decoder, v P)
}

// object reads an object into v; null leaves v as it is. fields are in the
// order in which hosts write them: then each is found at the first look.
// Fields that T does not have are passed over.
func object[P any](d *decoder, v P, fields []field[P]) {
	if !d.open('{') {
		return
	}
	if d.within != nil {
		d.within.depth++
	}
	var seen uint64
	at := 0
	for n := 0; d.next(n, '}'); n++ {
		i := at
		for i < len(fields) && !d.pass(fields[i].name) {
			i++
		}
		if i == len(fields) {
			if i = lookUp(d, fields); i < 0 {
				continue
			}
		}
		if seen&(1<<i) != 0 {
			d.fail("duplicate key " + strconv.Quote(fields[i].name))
		}
		seen |= 1 << i
		fields[i].read(d, v)
		if d.err != nil && d.within != nil {
			d.within.in(d, fields[i].name)
		}
		at = i + 1
	}
	if d.within != nil {
		d.within.depth--
	}
}

// pass passes the key ahead, up to its value, if it is name and written as
// hosts write it.
func (d *decoder) pass(name string) bool {
	end := d.pos + 1 + len(name)
	if end+1 >= len(d.doc) || d.doc[end] != '"' || d.doc[end+1] != ':' ||
		d.doc[d.pos] != '"' || string(d.doc[d.pos+1:end]) != name {
		return false
	}
	d.pos = end + 2
	return true
}

// lookUp passes the key ahead and returns the index of its field. A key that
// is none is passed with its value, unless encoding/json takes it for one.
func lookUp[P any](d *decoder, fields []field[P]) int {
	key := d.key()
	for i := range fields {
		if fields[i].name == key {
			return i
		}
	}
	for i := range fields {
		if strings.EqualFold(fields[i].name, key) {
			d.fail("key " + strconv.Quote(key) + ": write " + strconv.Quote(fields[i].name))
		}
	}
	if w := d.within; w != nil && w.depth == 1 && len(w.unknown) < maxUnknown {
		w.unknown = append(w.unknown, key)
	}
	d.skip(0)
	return -1
}

// open goes into a container that begins with c, and reports false for null.
func (d *decoder) open(c byte) bool {
	switch d.peek() {
	case c:
		d.pos++
		return true
	case 'n':
		d.literal("null")
	default:
		mistyped(d, map[byte]string{'{': "an object", '[': "a list"}[c])
	}
	return false
}

// mistyped ends the reading at a value of the wrong type.
func mistyped(d *decoder, want string) {
	is := "no value"
	switch c := d.peek(); {
	case c == '"':
		is = "a text"
	case c == '{':
		is = "an object"
	case c == '[':
		is = "a list"
	case c == 't' || c == 'f':
		is = "true or false"
	case c == 'n':
		is = "null"
	case c == '-' || isDigit(c):
		is = "a number"
	}
	d.fail(is + ", where " + want + " belongs")
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// key reads the key of a field, up to its value.
func (d *decoder) key() string {
	if d.peek() != '"' {
		d.fail("a key that is not a string")
		return ""
	}
	key := d.text()
	d.colon()
	return key
}

// list reads a list; null is nil.
func list[T any](d *decoder, read func(d *decoder, v *T)) []T {
	if !d.open('[') {
		return nil
	}
	out := []T{}
	if d.within != nil {
		out = room[T](d)
	}
	start := d.pos
	for n := 0; d.next(n, ']'); n++ {
		if n == cap(out) {
			out = slices.Grow(out, d.more(n, start))
		}
		out = out[:n+1]
		if read(d, &out[n]); d.err != nil && d.within != nil {
			d.within.in(d, "["+strconv.Itoa(n)+"]")
		}
	}
	return out
}

// manyElements are so many that what they take tells how many are to come.
const manyElements = 256

// more is for how many elements a list grows that has n, the first at start.
// Elements are large, and nothing collects what growing leaves behind: it is
// doubled at any size, and long lists go by the length of the document.
func (d *decoder) more(n, start int) int {
	if n < manyElements {
		return max(n, 1)
	}
	size := max(1, (d.pos-start)/n)
	left := (len(d.doc) - d.pos) / size
	return min(max(left+left/16, n/8), 16*n)
}

func texts(d *decoder) []string {
	return list(d, func(d *decoder, s *string) { *s = d.text() })
}

// entryBytes is what an entry of a map takes, with what growing leaves behind.
const entryBytes = 128

// rawMap reads an object of any keys; null is nil, and of equal keys the last
// one counts.
func rawMap(d *decoder) map[string]json.RawMessage {
	if !d.open('{') {
		return nil
	}
	m := make(map[string]json.RawMessage)
	for n := 0; d.next(n, '}'); n++ {
		d.take(entryBytes)
		key := d.key()
		m[key] = d.raw()
	}
	return m
}

// pointer reads an object that may be missing; null is nil.
func pointer[T any](d *decoder, fields []field[*T]) *T {
	if d.null() {
		return nil
	}
	v := new(T)
	object(d, v, fields)
	return v
}
