package runtime

import (
	"errors"
	"unicode/utf8"
)

var errTruncated = errors.New("it ends too early")

// reader walks through a module's bytes. Every read is checked; the first
// fault sticks.
type reader struct {
	data []byte
	pos  int
	err  error
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.pos = len(r.data)
}

func (r *reader) done() bool { return r.pos >= len(r.data) }

func (r *reader) byte() byte {
	if r.pos >= len(r.data) {
		r.fail(errTruncated)
		return 0
	}
	b := r.data[r.pos]
	r.pos++
	return b
}

// u32 reads an unsigned LEB128 number of at most 32 bits.
func (r *reader) u32() uint32 {
	var v uint32
	for shift := 0; shift < 35; shift += 7 {
		b := r.byte()
		if shift == 28 && b > 0x0f {
			break
		}
		v |= uint32(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
	r.fail(errors.New("a number is too long"))
	return 0
}

// bytes reads n bytes without copying them.
func (r *reader) bytes(n uint32) []byte {
	if uint64(n) > uint64(len(r.data)-r.pos) {
		r.fail(errTruncated)
		return nil
	}
	b := r.data[r.pos : r.pos+int(n)]
	r.pos += int(n)
	return b
}

func (r *reader) name() string {
	b := r.bytes(r.u32())
	if !utf8.Valid(b) {
		r.fail(errors.New("a name is not utf-8"))
		return ""
	}
	return string(b)
}

// vector calls f for each of a counted list of entries.
func (r *reader) vector(f func()) {
	for n := r.u32(); n > 0 && r.err == nil; n-- {
		f()
	}
}

// appendU32 writes an unsigned LEB128 number.
func appendU32(b []byte, v uint32) []byte {
	for v >= 0x80 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}
