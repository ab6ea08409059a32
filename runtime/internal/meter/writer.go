package meter

import (
	"slices"

	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// writer writes the new module, section by section.
type writer struct {
	emitter
	view  *view
	added []wasm.FuncType // types, behind the module's own
	code  []byte          // of the code section
	patch []wasm.FuncRef  // what is left of the places that name functions
}

func newWriter(v *view, g *graph) *writer {
	w := &writer{view: v, patch: slices.Clone(v.FuncRefs)}
	slices.SortFunc(w.patch, func(a, b wasm.FuncRef) int { return a.Pos - b.Pos })
	w.emitter = emitter{view: v, graph: g, indirect: g.indirect()}
	funcs := uint32(len(v.types))
	w.tick = v.imported
	w.slow, w.pause = funcs+1, funcs+2
	w.whole = funcs + 3
	w.helpers.first = funcs + 4
	w.fuel, w.depth, w.mark = v.globals, v.globals+1, v.globals+2
	// The code comes first: it says which helpers there are.
	for i := range v.Bodies {
		w.code = w.body(w.code, i)
	}
	return w
}

// order is that of sections in a module.
var order = []byte{
	wasm.SectionType, wasm.SectionImport, wasm.SectionFunction, wasm.SectionTable, wasm.SectionMemory, wasm.SectionGlobal,
	wasm.SectionExport, wasm.SectionStart, wasm.SectionElement, wasm.SectionDataCount, wasm.SectionCode, wasm.SectionData,
}

func (w *writer) module() []byte {
	out := make([]byte, 0, len(w.view.bytes)+len(w.code)/2)
	out = append(out, w.view.bytes[:wasm.HeaderBytes]...)
	if len(w.view.Bodies) == 0 { // nothing runs
		return append(out, w.view.bytes[wasm.HeaderBytes:]...)
	}
	bodies, types := w.functions()
	for _, id := range order {
		s := w.section(id)
		var content []byte
		switch id {
		case wasm.SectionType:
			content = w.extend(s, len(w.view.Types), w.typeEntries()...)
		case wasm.SectionImport:
			content = w.extend(s, len(w.view.Imports), w.tickImport())
		case wasm.SectionFunction:
			content = w.extend(s, len(w.view.Funcs), types...)
		case wasm.SectionTable:
			content = w.tables()
		case wasm.SectionGlobal:
			zero := []byte{byte(wasm.I32), 1, wasm.OpI32Const, 0, wasm.OpEnd}
			content = w.extend(s, len(w.view.Globals), zero, zero, zero)
		case wasm.SectionExport:
			content = w.exports()
		case wasm.SectionCode:
			content = wasm.AppendU32(nil, uint32(len(w.view.Bodies)+len(bodies)))
			content = append(content, w.code...)
			for _, b := range bodies {
				content = append(wasm.AppendU32(content, uint32(len(b))), b...)
			}
		default:
			content = w.patched(s)
		}
		if content != nil {
			out = wasm.AppendSection(out, id, content)
		}
	}
	for i := range w.view.Sections {
		if s := &w.view.Sections[i]; s.ID == wasm.SectionCustom && s.Name == nameSection {
			out = append(out, w.names(w.view.bytes[s.Body:s.Stop])...)
			break
		}
	}
	return out
}

// section is the section with an id, nil where there is none.
func (w *writer) section(id byte) *wasm.Section {
	for i := range w.view.Sections {
		if w.view.Sections[i].ID == id {
			return &w.view.Sections[i]
		}
	}
	return nil
}

// extend is a section with entries added at its end.
func (w *writer) extend(s *wasm.Section, n int, entries ...[]byte) []byte {
	content := wasm.AppendU32(nil, uint32(n+len(entries)))
	if s != nil {
		old := w.patched(s)
		r := &wasm.Reader{Data: old}
		r.U32()
		content = append(content, old[r.Pos:]...)
	}
	return append(content, slices.Concat(entries...)...)
}

// patched is a section with the functions it names renumbered, nil where there
// is none.
func (w *writer) patched(s *wasm.Section) []byte {
	if s == nil {
		return nil
	}
	var out []byte
	at := s.Body
	first, _ := slices.BinarySearchFunc(w.patch, s.Body, func(r wasm.FuncRef, pos int) int { return r.Pos - pos })
	for _, ref := range w.patch[first:] {
		if ref.Pos >= s.Stop {
			break
		}
		out = append(out, w.view.bytes[at:ref.Pos]...)
		out = wasm.AppendU32(out, w.function(ref.Index))
		r := &wasm.Reader{Data: w.view.bytes, Pos: ref.Pos}
		r.U32()
		at = r.Pos
	}
	return append(out, w.view.bytes[at:s.Stop]...)
}

func (w *writer) exports() []byte {
	own := w.view.Exports
	out := wasm.AppendU32(nil, uint32(len(own)+4))
	for _, e := range own {
		index := e.Index
		if e.Kind == wasm.KindFunc {
			index = w.function(index)
		}
		out = wasm.AppendU32(append(wasm.AppendName(out, e.Name), e.Kind), index)
	}
	out = wasm.AppendU32(append(wasm.AppendName(out, Whole), wasm.KindFunc), w.whole)
	for _, g := range []struct {
		name  string
		index uint32
	}{{Fuel, w.fuel}, {Depth, w.depth}, {Mark, w.mark}} {
		out = wasm.AppendU32(append(wasm.AppendName(out, g.name), wasm.KindGlobal), g.index)
	}
	return out
}

// tables gives every table of the module's own a maximum, so that all of them
// together stay within [wasm.MaxElements]: what their minimums leave is shared
// out evenly.
func (w *writer) tables() []byte {
	own := w.view.Tables
	if len(own) == 0 {
		return nil
	}
	left := uint32(wasm.MaxElements)
	for _, t := range own {
		left -= min(left, t.Min)
	}
	out := wasm.AppendU32(nil, uint32(len(own)))
	for _, t := range own {
		most := t.Min + left/uint32(len(own))
		if t.HasMax {
			most = min(most, t.Max)
		}
		out = append(out, byte(t.Elem), 1)
		out = wasm.AppendU32(wasm.AppendU32(out, t.Min), most)
	}
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
	return uint32(len(w.view.Types) + i)
}

var i32 = []wasm.ValueType{wasm.I32}

func (w *writer) tickImport() []byte {
	b := wasm.AppendName(wasm.AppendName(nil, Module), Tick)
	return wasm.AppendU32(append(b, wasm.KindFunc), w.typ(tickType))
}

var tickType = wasm.FuncType{Params: []wasm.ValueType{wasm.I32, wasm.I32}, Results: i32}

// functions are those that are added, and the entries of their types.
func (w *writer) functions() (bodies, types [][]byte) {
	w.typ(tickType)
	add := func(body []byte, t wasm.FuncType) {
		bodies = append(bodies, body)
		types = append(types, wasm.AppendU32(nil, w.typ(t)))
	}
	add(w.slowBody(), wasm.FuncType{})
	add(w.pauseBody(), wasm.FuncType{})
	add(wholeBody(1), wasm.FuncType{Results: i32})
	for _, kind := range w.helpers.list {
		add(w.helperBody(kind), kind.funcType())
	}
	return bodies, types
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

// slowBody is what a checkpoint calls when something is used up.
func (e *emitter) slowBody() []byte {
	a := e.asm
	a.b = []byte{0}
	a.indexed(wasm.OpGlobalGet, a.fuel)
	a.constant(0)
	a.op(opI32LtS, wasm.OpIf, blockVoid)
	a.refuel(ReasonFuel)
	a.op(wasm.OpEnd)
	a.indexed(wasm.OpGlobalGet, a.depth)
	a.indexed(wasm.OpGlobalGet, a.mark)
	a.op(opI32LtS, wasm.OpIf, blockVoid)
	a.askTick(ReasonStack, func() { a.indexed(wasm.OpGlobalGet, a.depth) })
	a.indexed(wasm.OpGlobalSet, a.mark)
	a.op(wasm.OpEnd, wasm.OpEnd)
	return a.b
}

// pauseBody is what follows a call of an imported function.
func (e *emitter) pauseBody() []byte {
	a := e.asm
	a.b = []byte{0}
	a.refuel(ReasonReturn)
	a.op(wasm.OpEnd)
	return a.b
}

func (a *asm) refuel(reason int64) {
	a.askTick(reason, func() { a.indexed(wasm.OpGlobalGet, a.fuel) })
	a.indexed(wasm.OpGlobalSet, a.fuel)
}
