package meter

import (
	"slices"

	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// writer writes the new module, section by section.
type writer struct {
	bodyWriter
	added []wasm.FuncType // types, behind the module's own
	code  []byte          // the functions of the module's own
}

func newWriter(m *module, g *callGraph) *writer {
	w := &writer{
		bodyWriter: bodyWriter{module: m, graph: g, indirect: g.indirect()},
	}
	w.helpers.first = uint32(len(m.Funcs)) + 1
	globals := uint32(len(m.Globals))
	w.names = map[string]uint32{
		"tick": m.imported, "fuel": globals, "depth": globals + 1, "mark": globals + 2,
		"slow": w.helpers.function(helpSlow), "pause": w.helpers.function(helpPause), "whole": w.helpers.function(helpWhole),
	}
	// The code comes first: it says which helpers there are.
	for i := range m.Bodies {
		w.code = w.body(w.code, i)
	}
	return w
}

// order is that of sections in a module.
var order = []byte{
	wasm.SectionType, wasm.SectionImport, wasm.SectionFunction, wasm.SectionTable, wasm.SectionMemory, wasm.SectionGlobal,
	wasm.SectionExport, wasm.SectionStart, wasm.SectionElement, wasm.SectionDataCount, wasm.SectionCode, wasm.SectionData,
}

func (w *writer) write() []byte {
	out := make([]byte, 0, len(w.module.bytes)+len(w.code)/2)
	out = append(out, w.module.bytes[:wasm.HeaderBytes]...)
	if len(w.module.Bodies) == 0 { // nothing runs
		return append(out, w.module.bytes[wasm.HeaderBytes:]...)
	}
	tick := w.typ(wasm.FuncType{Params: []wasm.ValueType{wasm.I32, wasm.I32}, Results: []wasm.ValueType{wasm.I32}})
	var types, bodies [][]byte
	for _, kind := range w.helpers.list {
		types = append(types, wasm.AppendU32(nil, w.typ(helperType(kind))))
		body := w.helperBody(kind)
		bodies = append(bodies, append(wasm.AppendU32(nil, uint32(len(body))), body...))
	}
	for _, id := range order {
		s := w.section(id)
		var content []byte
		switch id {
		case wasm.SectionType:
			content = w.extend(s, w.typeEntries()...)
		case wasm.SectionImport:
			entry := append(wasm.AppendName(wasm.AppendName(nil, Module), Tick), wasm.KindFunc)
			content = w.extend(s, wasm.AppendU32(entry, tick))
		case wasm.SectionFunction:
			content = w.extend(s, types...)
		case wasm.SectionGlobal:
			zero := []byte{byte(wasm.I32), 1, wasm.OpI32Const, 0, wasm.OpEnd}
			content = w.extend(s, zero, zero, zero)
		case wasm.SectionExport:
			content = w.exports()
		case wasm.SectionCode:
			content = wasm.AppendU32(nil, uint32(len(w.module.Bodies)+len(bodies)))
			content = append(append(content, w.code...), slices.Concat(bodies...)...)
		default:
			content = w.patched(s)
		}
		if content != nil {
			out = wasm.AppendSection(out, id, content)
		}
	}
	return append(out, w.nameSection()...)
}

// section is the section with an id, nil where there is none.
func (w *writer) section(id byte) *wasm.Section {
	i := slices.IndexFunc(w.module.Sections, func(s wasm.Section) bool { return s.ID == id })
	if i < 0 {
		return nil
	}
	return &w.module.Sections[i]
}

// extend is a section with entries added at its end.
func (w *writer) extend(s *wasm.Section, entries ...[]byte) []byte {
	r := &wasm.Reader{Data: []byte{0}}
	if s != nil {
		r.Data = w.patched(s)
	}
	content := wasm.AppendU32(nil, r.U32()+uint32(len(entries)))
	return append(append(content, r.Data[r.Pos:]...), slices.Concat(entries...)...)
}

// patched is a section with the functions it names renumbered, nil where there
// is none.
func (w *writer) patched(s *wasm.Section) []byte {
	if s == nil {
		return nil
	}
	var out []byte
	at := s.Body
	refs := w.module.FuncRefs
	first, _ := slices.BinarySearchFunc(refs, s.Body, func(r wasm.FuncRef, pos int) int { return int(r.Pos) - pos })
	for _, ref := range refs[first:] {
		pos := int(ref.Pos)
		if pos >= s.Stop {
			break
		}
		out = append(out, w.module.bytes[at:pos]...)
		out = wasm.AppendU32(out, w.function(ref.Index))
		r := &wasm.Reader{Data: w.module.bytes, Pos: pos}
		r.U32()
		at = r.Pos
	}
	return append(out, w.module.bytes[at:s.Stop]...)
}

func (w *writer) exports() []byte {
	own := w.module.Exports
	out := wasm.AppendU32(nil, uint32(len(own)+4))
	add := func(name string, kind byte, index uint32) {
		out = wasm.AppendU32(append(wasm.AppendName(out, name), kind), index)
	}
	for _, e := range own {
		if e.Kind == wasm.KindFunc {
			e.Index = w.function(e.Index)
		}
		add(e.Name, e.Kind, e.Index)
	}
	add(Whole, wasm.KindFunc, w.names["whole"])
	add(Fuel, wasm.KindGlobal, w.names["fuel"])
	add(Depth, wasm.KindGlobal, w.names["depth"])
	add(Mark, wasm.KindGlobal, w.names["mark"])
	return out
}

// typ is the index of a type, added where it is new.
func (w *writer) typ(t wasm.FuncType) uint32 {
	sig := t.Signature()
	i := slices.IndexFunc(w.added, func(a wasm.FuncType) bool { return a.Signature() == sig })
	if i < 0 {
		i = len(w.added)
		w.added = append(w.added, t)
	}
	return uint32(len(w.module.Types) + i)
}

func (w *writer) typeEntries() [][]byte {
	var entries [][]byte
	for _, t := range w.added {
		b := []byte{0x60}
		for _, side := range [][]wasm.ValueType{t.Params, t.Results} {
			b = wasm.AppendU32(b, uint32(len(side)))
			for _, v := range side {
				b = append(b, byte(v))
			}
		}
		entries = append(entries, b)
	}
	return entries
}
