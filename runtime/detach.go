package runtime

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
	"github.com/kagewasm/kagewasm/runtime/meter"
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
	reservedPrefix = meter.Prefix
	reservedStart  = reservedPrefix + "start"
	reservedGlobal = reservedPrefix + "global."
	maxReserved    = 32 // bytes of an export with such a name
)

// detach rewrites a module so that making an instance of it neither runs code
// nor fills its memory, and so that the host can read and set all of its
// state: data segments are taken out, the start section becomes an export, and
// all mutable globals are exported. The host does the rest as boot says, or
// puts a copy of the state of another instance in its place.
//
// It works on whole sections and knows nothing of code. That no code looks at
// what changes here is for the caller to know: see meter.Info. The error says
// what stands in the way: an offset that is no constant, a mutable global that
// is no number, no export.
func detach(bin []byte) ([]byte, *boot, error) {
	m, err := wasm.Parse(bin)
	if err != nil {
		return nil, nil, err
	}
	b, added, err := describeBoot(m)
	if err != nil {
		return nil, nil, err
	}
	out := append(make([]byte, 0, len(bin)+len(added)*maxReserved), bin[:wasm.HeaderBytes]...)
	exports := false
	for _, s := range m.Sections {
		switch s.ID {
		case wasm.SectionExport:
			exports = true
			content := wasm.AppendU32(nil, uint32(len(m.Exports)+len(added)))
			r := &wasm.Reader{Data: bin[:s.Stop], Pos: s.Body}
			r.U32()
			content = append(content, bin[r.Pos:s.Stop]...)
			out = wasm.AppendSection(out, s.ID, append(content, bytes.Join(added, nil)...))
		case wasm.SectionStart, wasm.SectionData, wasm.SectionDataCount:
		default:
			out = append(out, bin[s.Start:s.Stop]...)
		}
	}
	if !exports {
		return nil, nil, errors.New("no exports")
	}
	return out, b, nil
}

// describeBoot says what detach takes out. added are the exports it adds.
func describeBoot(m *wasm.Module) (b *boot, added [][]byte, err error) {
	b = new(boot)
	export := func(name string, kind byte, index uint32) {
		added = append(added, wasm.AppendU32(append(wasm.AppendName(nil, name), kind), index))
	}
	for i, g := range m.Globals { // none is imported
		switch {
		case !g.Mutable:
		case g.Type == wasm.I32, g.Type == wasm.I64, g.Type == wasm.F32, g.Type == wasm.F64:
			b.globals = append(b.globals, reservedGlobal+strconv.Itoa(i))
			export(b.globals[len(b.globals)-1], wasm.KindGlobal, uint32(i))
		default:
			return nil, nil, fmt.Errorf("a mutable global of type %s", g.Type)
		}
	}
	if m.Start != nil {
		b.start = true
		export(reservedStart, wasm.KindFunc, *m.Start)
	}
	b.data, err = segmentsOf(m)
	return b, added, err
}

// segmentsOf are the data that a module puts into its memory.
func segmentsOf(m *wasm.Module) ([]segment, error) {
	size := 0
	for _, d := range m.Data {
		size += len(d.Bytes)
	}
	data, all := make([]segment, 0, len(m.Data)), make([]byte, 0, size)
	for _, d := range m.Data {
		switch {
		case !d.Active:
		case d.Offset.Op != wasm.OpI32Const:
			return nil, errors.New("the offset of a data segment is no constant")
		default:
			// The rest of the module is not kept for its data.
			from := len(all)
			all = append(all, d.Bytes...)
			data = append(data, segment{uint32(d.Offset.Value), all[from:len(all):len(all)]})
		}
	}
	return data, nil
}
