package wasm_test

import (
	"errors"
	"testing"

	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// FuzzParse: any bytes are a module or a *FormError, and what is said of a
// module lies in it.
func FuzzParse(f *testing.F) {
	features.Proves(f, "N1")
	for _, module := range [][]byte{
		nil, []byte("\x00asm\x01\x00\x00\x00"), []byte("(module)"), []byte("\x00asm\x0d\x00\x01\x00"),
		wasmtest.Answer("h", "{}"), wasmtest.Recurse("h"), wasmtest.EatMemory("h"), wasmtest.ExtismEcho("h"),
		with([]wasm.ValueType{wasm.I32, wasm.V128}, []byte{wasm.OpNop}), all(),
	} {
		f.Add(module)
	}
	f.Fuzz(func(t *testing.T, module []byte) {
		m, err := wasm.Parse(module)
		var form *wasm.FormError
		switch {
		case err == nil:
			checkPlaces(t, module, m)
		case !errors.As(err, &form):
			t.Errorf("%T: %v", err, err)
		case form.Message == "" || form.Hint == "":
			t.Errorf("it does not say what to do: %+v", form)
		}
	})
}

// all is a module with every kind of section.
func all() []byte {
	b := []byte("\x00asm\x01\x00\x00\x00")
	zero := []byte{wasm.OpI32Const, 0, wasm.OpEnd}
	name := func(s string, more ...byte) []byte { return append(wasm.AppendName(nil, s), more...) }
	for _, s := range []struct {
		id      byte
		content []byte
	}{
		{wasm.SectionCustom, name("first", 1, 2, 3)},
		{wasm.SectionType, []byte{2, 0x60, 0, 0, 0x60, 2, 0x7f, 0x7e, 2, 0x7d, 0x7c}},
		{wasm.SectionImport, append(append([]byte{4}, name("m")...), append(name("f", wasm.KindFunc, 1),
			append(name("m"), append(name("t", wasm.KindTable, 0x70, 0, 1),
				append(name("m"), append(name("mem", wasm.KindMemory, 1, 1, 2),
					append(name("m"), name("g", wasm.KindGlobal, 0x7f, 0)...)...)...)...)...)...)...)},
		{wasm.SectionFunction, []byte{1, 0}},
		{wasm.SectionTable, []byte{1, 0x6f, 1, 2, 3}},
		{wasm.SectionGlobal, append([]byte{3, 0x7f, 1},
			append([]byte{wasm.OpGlobalGet, 0, wasm.OpEnd}, 0x70, 0, wasm.OpRefFunc, 1, wasm.OpEnd, 0x6f, 0,
				wasm.OpRefNull, 0x6f, wasm.OpEnd)...)},
		{wasm.SectionExport, append([]byte{2}, append(name("f", wasm.KindFunc, 1), name("g", wasm.KindGlobal, 1)...)...)},
		{wasm.SectionStart, []byte{1}},
		{wasm.SectionElement, append([]byte{3, 0}, append(zero, 1, 1, 3, 0, 1, 0, 5, 0x70, 1, wasm.OpRefNull, 0x70,
			wasm.OpEnd)...)},
		{wasm.SectionDataCount, []byte{2}},
		{wasm.SectionCode, []byte{1, 6, 2, 1, 0x7f, 2, 0x7b, wasm.OpEnd}},
		{wasm.SectionData, append([]byte{2, 0}, append(zero, 1, 'a', 1, 1, 'b')...)},
		{wasm.SectionCustom, name("name", 1, 4, 1, 1, 1, 'f')},
	} {
		b = wasm.AppendSection(b, s.id, s.content)
	}
	return b
}

func checkPlaces(t *testing.T, module []byte, m *wasm.Module) {
	t.Helper()
	at := wasm.HeaderBytes
	for _, s := range m.Sections {
		if s.Start != at || s.Body < s.Start || s.Stop < s.Body {
			t.Fatalf("a section %+v, the last ended at %d", s, at)
		}
		at = s.Stop
	}
	if at != len(module) {
		t.Errorf("the sections end at %d of %d", at, len(module))
	}
	for _, ref := range m.FuncRefs {
		if r := (&wasm.Reader{Data: module, Pos: int(ref.Pos)}); r.U32() != ref.Index {
			t.Errorf("no function %d at %d", ref.Index, ref.Pos)
		}
	}
	for _, e := range m.Exports {
		if r := (&wasm.Reader{Data: module, Pos: e.Pos}); r.U32() != e.Index {
			t.Errorf("no index %d at %d", e.Index, e.Pos)
		}
	}
	var c wasm.Code
	for _, body := range m.Bodies {
		if c.Decode(module, body) != nil {
			continue
		}
		at := body.Code
		for _, in := range c.List {
			if in.Pos != at || in.End <= in.Pos {
				t.Fatalf("an instruction %+v behind %d", in, at)
			}
			at = in.End
		}
		if at != body.Stop {
			t.Errorf("the instructions end at %d of %d", at, body.Stop)
		}
	}
}
