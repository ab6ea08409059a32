package wasm

import (
	"cmp"
	"errors"
	"unicode/utf8"
)

// ErrTruncated is the fault of bytes that end too early.
var ErrTruncated = errors.New("it ends too early")

var errLongNumber = errors.New("a number is too long")

// Reader walks through a module's bytes. Every read is checked; the first
// fault sticks, and what is read after it is zero.
type Reader struct {
	Data []byte
	Pos  int
	Err  error
}

// Fail notes a fault, unless there is one already, and goes to the end.
func (r *Reader) Fail(err error) {
	r.Err = cmp.Or(r.Err, err)
	r.Pos = len(r.Data)
}

// Done reports whether everything is read, or nothing more can be.
func (r *Reader) Done() bool { return r.Pos >= len(r.Data) }

// Byte reads a byte.
func (r *Reader) Byte() byte {
	if r.Pos >= len(r.Data) {
		r.Fail(ErrTruncated)
		return 0
	}
	b := r.Data[r.Pos]
	r.Pos++
	return b
}

// U32 reads an unsigned LEB128 number of at most 32 bits.
func (r *Reader) U32() uint32 {
	if r.Pos < len(r.Data) && r.Data[r.Pos] < 0x80 { // nearly all of them
		r.Pos++
		return uint32(r.Data[r.Pos-1])
	}
	var v uint32
	for shift := 0; shift < 35; shift += 7 {
		b := r.Byte()
		if shift == 28 && b > 0x0f {
			break
		}
		v |= uint32(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
	r.Fail(errLongNumber)
	return 0
}

// S64 reads a signed LEB128 number of at most 64 bits. Whether the bits beyond
// those of a shorter type are what they have to be is for the engine to see.
func (r *Reader) S64() int64 {
	var v int64
	for shift := 0; shift < 70; shift += 7 {
		b := r.Byte()
		v |= int64(b&0x7f) << shift
		if b < 0x80 {
			if b&0x40 != 0 && shift < 57 {
				v |= -1 << (shift + 7)
			}
			return v
		}
	}
	r.Fail(errLongNumber)
	return 0
}

// Bytes reads n bytes without copying them.
func (r *Reader) Bytes(n uint32) []byte {
	if uint64(n) > uint64(len(r.Data)-r.Pos) {
		r.Fail(ErrTruncated)
		return nil
	}
	b := r.Data[r.Pos : r.Pos+int(n)]
	r.Pos += int(n)
	return b
}

// Name reads a counted string of UTF-8.
func (r *Reader) Name() string {
	b := r.Bytes(r.U32())
	if !utf8.Valid(b) {
		r.Fail(errors.New("a name is not utf-8"))
		return ""
	}
	return string(b)
}

// Vector calls f for each of a counted list of entries.
func (r *Reader) Vector(f func()) {
	for n := r.U32(); n > 0 && r.Err == nil; n-- {
		f()
	}
}

// VectorUpTo is Vector for a list of bounded length. It returns the length.
func (r *Reader) VectorUpTo(limit uint32, f func()) uint32 {
	n := r.U32()
	if n > limit {
		r.Fail(tooMany(n, limit))
		return 0
	}
	for i := n; i > 0 && r.Err == nil; i-- {
		f()
	}
	return n
}

// AppendU32 writes an unsigned LEB128 number.
func AppendU32(b []byte, v uint32) []byte {
	for v >= 0x80 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}

// AppendS64 writes a signed LEB128 number.
func AppendS64(b []byte, v int64) []byte {
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

// AppendName writes a counted string.
func AppendName(b []byte, s string) []byte {
	return append(AppendU32(b, uint32(len(s))), s...)
}

// AppendSection writes a section.
func AppendSection(b []byte, id byte, content []byte) []byte {
	return append(AppendU32(append(b, id), uint32(len(content))), content...)
}
