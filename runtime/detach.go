package runtime

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// boot is what the host does in place of the engine to bring an instance of a
// detached module to life.
type boot struct {
	data    []segment
	start   bool     // there is an export reservedStart, which runs first
	globals []string // the exports of the mutable globals
}

// segment is what a module puts into its memory.
type segment struct {
	at    uint32
	bytes []byte
}

// The names of exports that are the host's begin with reservedPrefix.
const (
	reservedPrefix = "kagewasm."
	reservedStart  = reservedPrefix + "start"
	reservedGlobal = reservedPrefix + "global."
	maxReserved    = 32 // bytes of an export with such a name
)

// checkReserved refuses a module with exports that look like the host's.
func checkReserved(m *module) error {
	for _, e := range m.exports {
		if strings.HasPrefix(e.name, reservedPrefix) {
			return &errForm{fmt.Sprintf("export %q: names that begin with %s are the host's", shorten(e.name, 80), reservedPrefix), "export it under another name"}
		}
	}
	return nil
}

// detach rewrites a module so that making an instance of it neither runs code
// nor fills its memory, and so that the host can read and set all of its
// state: data segments are taken out, the start section becomes an export, and
// all mutable globals are exported. The host does the rest as boot says, or
// puts a copy of the state of another instance in its place.
//
// It works on whole sections and knows nothing of code. That no code looks at
// what changes here is for the caller to know: see usesSegments. The error
// says what stands in the way: an offset that is no constant, a mutable global
// that is no number, no export.
func detach(wasm []byte) ([]byte, *boot, error) {
	sections, err := split(wasm)
	if err != nil {
		return nil, nil, err
	}
	b, added, err := describeBoot(sections)
	if err != nil {
		return nil, nil, err
	}
	out := append(make([]byte, 0, len(wasm)+len(added)*maxReserved), wasm[:headerBytes]...)
	exports := false
	for _, s := range sections {
		switch s.id {
		case sectionExport:
			exports = true
			out = appendSection(out, s.id, moreEntries(s.content, added))
		case sectionStart, sectionData, sectionDataCount:
		default:
			out = appendSection(out, s.id, s.content)
		}
	}
	if !exports {
		return nil, nil, errors.New("no exports")
	}
	return out, b, nil
}

// rawSection is a section that is taken as it is.
type rawSection struct {
	id      byte
	content []byte
}

func split(wasm []byte) ([]rawSection, error) {
	var sections []rawSection
	r := &reader{data: wasm, pos: headerBytes}
	for !r.done() {
		id := r.byte()
		sections = append(sections, rawSection{id, r.bytes(r.u32())})
	}
	return sections, r.err
}

func appendSection(out []byte, id byte, content []byte) []byte {
	return append(appendU32(append(out, id), uint32(len(content))), content...)
}

// moreEntries adds entries to a section that is a list.
func moreEntries(content []byte, added [][]byte) []byte {
	r := &reader{data: content}
	out := appendU32(nil, r.u32()+uint32(len(added)))
	out = append(out, content[r.pos:]...)
	return append(out, bytes.Join(added, nil)...)
}

// describeBoot reads what detach takes out. added are the exports it adds.
func describeBoot(sections []rawSection) (b *boot, added [][]byte, err error) {
	b = new(boot)
	export := func(name string, kind byte, index uint32) {
		e := append(appendU32(nil, uint32(len(name))), name...)
		added = append(added, appendU32(append(e, kind), index))
	}
	for _, s := range sections {
		r := &reader{data: s.content}
		switch s.id {
		case sectionGlobal:
			index := uint32(0) // globals cannot be imported
			r.vector(func() {
				if r.mutableGlobal() {
					b.globals = append(b.globals, reservedGlobal+strconv.Itoa(int(index)))
					export(b.globals[len(b.globals)-1], kindGlobal, index)
				}
				index++
			})
		case sectionStart:
			b.start = true
			export(reservedStart, kindFunc, r.u32())
		case sectionData:
			r.vector(func() {
				if s, active := r.segment(); active {
					b.data = append(b.data, s)
				}
			})
		}
		if r.err != nil {
			return nil, nil, r.err
		}
	}
	return b, added, nil
}

// mutableGlobal reads a global and reports whether it can change. One that can
// and is no number fails: the host cannot set it.
func (r *reader) mutableGlobal() bool {
	typ := r.valueType()
	mutable := r.byte() == 1
	r.initExpr()
	switch typ {
	case "i32", "i64", "f32", "f64":
	default:
		if mutable {
			r.fail(fmt.Errorf("a mutable global of type %s", typ))
		}
	}
	return mutable
}

// segment reads a data segment; active are those that are put into memory by
// themselves.
func (r *reader) segment() (s segment, active bool) {
	kind := r.u32()
	if kind == 2 {
		r.u32() // the memory, which is the only one
	}
	if kind != 1 {
		if r.byte() != 0x41 { // i32.const
			r.fail(errors.New("the offset of a data segment is no constant"))
		}
		s.at = r.s32()
		if r.byte() != 0x0b {
			r.fail(errors.New("the offset of a data segment is no constant"))
		}
	}
	// The rest of the module is not kept for its data.
	s.bytes = bytes.Clone(r.bytes(r.u32()))
	return s, kind != 1
}

// s32 reads a signed LEB128 number of 32 bits.
func (r *reader) s32() uint32 {
	var v uint32
	for shift := 0; shift < 35; shift += 7 {
		b := r.byte()
		v |= uint32(b&0x7f) << shift
		if b < 0x80 {
			if b&0x40 != 0 && shift < 28 {
				v |= ^uint32(0) << (shift + 7)
			}
			return v
		}
	}
	r.fail(errors.New("a number is too long"))
	return 0
}
