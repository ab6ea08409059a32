package wire

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// field is a field of T: its name in JSON and how it is read.
type field[T any] struct {
	name string
	read func(d *decoder, v *T)
}

// object reads an object into v; null leaves v as it is. fields are in the
// order in which hosts write them: then each is found at the first look.
// Fields that T does not have are passed over.
func object[T any](d *decoder, v *T, fields []field[T]) {
	if !d.open('{') {
		return
	}
	var seen uint64
	at := 0
	for n := 0; d.next(n, '}'); n++ {
		key := d.key()
		i := find(fields, key, at)
		if i < 0 {
			refuseVariant(d, key, fields)
			d.peek()
			d.skip(0)
			continue
		}
		if seen&(1<<i) != 0 {
			d.fail("duplicate key " + strconv.Quote(key))
		}
		seen |= 1 << i
		fields[i].read(d, v)
		at = i + 1
	}
}

// find returns the index of the field of that name, or -1. It looks from at
// on, and then at those before.
func find[T any](fields []field[T], key string, at int) int {
	for i := at; i < len(fields); i++ {
		if fields[i].name == key {
			return i
		}
	}
	for i := range at {
		if fields[i].name == key {
			return i
		}
	}
	return -1
}

// refuseVariant refuses a key that encoding/json takes for one of the fields.
func refuseVariant[T any](d *decoder, key string, fields []field[T]) {
	for i := range fields {
		if strings.EqualFold(fields[i].name, key) {
			d.fail("key " + strconv.Quote(key) + ": write " + strconv.Quote(fields[i].name))
		}
	}
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
		d.fail("a value of another type, where " + string(rune(c)) + " should begin one")
	}
	return false
}

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
	for n := 0; d.next(n, ']'); n++ {
		if n == cap(out) {
			// Doubled at any size: elements are large, and nothing collects
			// what append leaves behind.
			out = slices.Grow(out, max(n, 1))
		}
		out = out[:n+1]
		read(d, &out[n])
	}
	return out
}

func texts(d *decoder) []string {
	return list(d, func(d *decoder, s *string) { *s = d.text() })
}

// rawMap reads an object of any keys; null is nil, and of equal keys the last
// one counts.
func rawMap(d *decoder) map[string]json.RawMessage {
	if !d.open('{') {
		return nil
	}
	m := make(map[string]json.RawMessage)
	for n := 0; d.next(n, '}'); n++ {
		key := d.key()
		m[key] = d.raw()
	}
	return m
}

// pointer reads a value that may be missing; null is nil.
func pointer[T any](d *decoder, read func(d *decoder, v *T)) *T {
	if d.null() {
		return nil
	}
	v := new(T)
	read(d, v)
	return v
}
