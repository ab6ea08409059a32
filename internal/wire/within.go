package wire

import (
	"errors"
	"fmt"
	"strconv"
	"unsafe"

	"github.com/kagewasm/kagewasm/internal/strictjson"
)

// Limits bound what it costs a host to read what a guest wrote. They are looked at
// before anything is built.
type Limits struct {
	// Items is how many elements the lists of a document may hold together that
	// name something: messages, ids, texts. 0 is no bound.
	Items int
	// An error of these is the error of the reading.
	strictjson.Limits
}

// TooMany is the error of a document with more items than its limits allow.
type TooMany struct{ Items, Allowed int }

// Error says how many there are.
func (e *TooMany) Error() string {
	return fmt.Sprintf("it names %d messages, ids or texts, %d allowed", e.Items, e.Allowed)
}

// maxUnknown is how many unknown fields are named.
const maxUnknown = 10

// UnmarshalWithin is [Unmarshal] for a document that is not trusted, which
// [strictjson.Check] has accepted. v points to a zero abi.Output or to the zero
// request of a host call. unknown are the first fields of the document itself that
// its type does not have. A value of the wrong type is an error that names the field.
func UnmarshalWithin(doc []byte, v any, l Limits) (unknown []string, err error) {
	d := decoder{doc: doc, within: &within{Limits: l}}
	written(&d, v)
	err = d.end()
	if w := d.within; w.why != nil {
		return nil, w.why
	}
	if fault, ok := errors.AsType[*strictjson.Error](err); ok && d.within.path != "" {
		fault.Err = fmt.Errorf("%s: %w", d.within.path, fault.Err)
	}
	return d.within.unknown, err
}

// within is what a decoder knows of a document that is not trusted.
type within struct {
	Limits
	items   int
	steps   int
	depth   int // of objects that are being read
	unknown []string
	path    string // of the field in which reading ended
	why     error  // that is no fault of the document
}

// lookEvery is how many values are read between two looks.
const lookEvery = 4096

// stop ends the reading for a reason of the host's.
func stop(d *decoder, why error) {
	if why != nil && d.err == nil {
		d.within.why = why
		d.fail(why.Error())
	}
}

// take reserves memory for what is about to be built.
func (d *decoder) take(n int64) {
	if w := d.within; w != nil && w.Take != nil {
		stop(d, w.Take(n))
	}
}

// step counts a value.
func (w *within) step(d *decoder) {
	if w.steps++; w.steps%lookEvery == 0 && w.Look != nil {
		stop(d, w.Look())
	}
}

// in notes in which field reading ended; the innermost comes first.
func (w *within) in(d *decoder, name string) {
	if d.err == nil {
		return
	}
	if w.path == "" || w.path[0] == '[' {
		w.path = name + w.path
		return
	}
	w.path = name + "." + w.path
}

// counted is [list] for elements that name something, which take some bytes to do so:
// that of a shorter one is not even built.
func counted[T any](d *decoder, least int, read func(d *decoder, v *T)) []T {
	w := d.within
	if w == nil || d.peek() != '[' {
		return list(d, read)
	}
	d.pos++
	n := d.elements(least)
	d.pos--
	if w.items += n; w.Items > 0 && w.items > w.Items {
		stop(d, &TooMany{w.items, w.Items})
	}
	return list(d, read)
}

// elements counts what is left of the list that d is in, and stays where it is. The
// first element that is shorter than least ends the reading.
func (d *decoder) elements(least int) (n int) {
	start := d.pos
	for d.next(n, ']') {
		d.peek()
		at := d.pos
		if d.skip(1); d.err == nil && d.pos-at < least {
			d.pos = at
			d.fail("it names nothing")
			d.within.in(d, "["+strconv.Itoa(n)+"]")
		}
		n++
	}
	if d.err == nil {
		d.pos = start
	}
	return n
}

// room makes room for the rest of the list that d is in, which is all of it.
func room[T any](d *decoder) []T {
	n := d.elements(0)
	var one T
	d.take(int64(n) * int64(unsafe.Sizeof(one)))
	if d.err != nil {
		return nil
	}
	return make([]T, 0, n)
}
