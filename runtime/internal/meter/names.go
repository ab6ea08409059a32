package meter

import (
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

const (
	nameSection   = "name"
	functionNames = 1 // the id of the names of functions in it
)

// nameSection is a name section with the names of functions out of the module's,
// for their new indices, so that stack traces stay readable. It is nothing where
// there are none, or where they are malformed.
func (w *writer) nameSection() []byte {
	for i := range w.module.Sections {
		s := &w.module.Sections[i]
		if s.ID != wasm.SectionCustom || s.Name != nameSection {
			continue
		}
		r := &wasm.Reader{Data: w.module.bytes[:s.Stop], Pos: s.Body}
		for !r.Done() {
			id, names := r.Byte(), r.Bytes(r.U32())
			if r.Err == nil && id == functionNames {
				return w.functionNames(names)
			}
		}
		return nil
	}
	return nil
}

// functionNames has the names of functions, by index, and those of what was
// added among them. Long ones are cut: a stack trace repeats them.
func (w *writer) functionNames(list []byte) []byte {
	var own, others []byte
	n, last := uint32(0), int64(-1)
	r := &wasm.Reader{Data: list}
	r.VectorUpTo(wasm.MaxFuncs+wasm.MaxImports, func() {
		index, name := r.U32(), r.Name()
		if r.Err != nil || int64(index) <= last || int(index) >= len(w.module.Funcs) {
			r.Fail(wasm.ErrTruncated)
			return
		}
		last = int64(index)
		if len(name) > wasm.MaxNameBytes {
			name = strings.ToValidUTF8(name[:wasm.MaxNameBytes], "")
		}
		part := &own
		if index < w.module.imported {
			part = &others
		}
		*part = wasm.AppendName(wasm.AppendU32(*part, w.function(index)), name)
		n++
	})
	if r.Err != nil || !r.Done() || n == 0 {
		return nil
	}
	add := func(index uint32, name string) []byte { return wasm.AppendName(wasm.AppendU32(nil, index), name) }
	entries := slices.Concat(others, add(w.names["tick"], Prefix+Tick), own)
	for i, kind := range w.helpers.list {
		entries = append(entries, add(w.helpers.first+uint32(i), helperTable[kind].name)...)
	}
	entries = append(wasm.AppendU32(nil, n+1+uint32(len(w.helpers.list))), entries...)
	body := append(wasm.AppendName(nil, nameSection), functionNames)
	body = append(wasm.AppendU32(body, uint32(len(entries))), entries...)
	return wasm.AppendSection(nil, wasm.SectionCustom, body)
}
