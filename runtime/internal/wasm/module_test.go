package wasm_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// TestParse: what a module with everything in it is said to have.
func TestParse(t *testing.T) {
	module := all()
	m, err := wasm.Parse(module)
	if err != nil {
		t.Fatal(err)
	}
	checkPlaces(t, module, m)
	export, _ := m.Export("f")
	sig, _ := m.ExportedFunc("f")
	imported, _ := m.SignatureOf(0)
	refs := make([]uint32, 0, len(m.FuncRefs))
	for _, ref := range m.FuncRefs {
		refs = append(refs, ref.Index)
	}
	segments, bytes := m.DataSize()
	for _, c := range []struct {
		what      string
		got, want any
	}{
		{"imported functions", m.Imported, [4]int{1, 1, 1, 1}},
		{"types of functions", m.Funcs, []uint32{1, 0}},
		{"globals", m.Globals, []wasm.GlobalType{{Type: wasm.I32}, {Type: wasm.I32, Mutable: true},
			{Type: wasm.FuncRefT}, {Type: wasm.ExternRef}}},
		{"tables", m.Tables, []wasm.Table{{Elem: wasm.FuncRefT, Limits: wasm.Limits{Min: 1}},
			{Elem: wasm.ExternRef, Limits: wasm.Limits{Min: 2, Max: 3, HasMax: true}}}},
		{"an export's index", export.Index, uint32(1)},
		{"its signature", sig, wasm.Signature("()")},
		{"an import's signature", imported, wasm.Signature("(i32,i64)->f32,f64")},
		{"places that name functions", refs, []uint32{1, 1, 1, 0}},
		{"the start", *m.Start, uint32(1)},
		{"locals", m.Bodies[0].Locals, []wasm.Locals{{N: 1, Type: wasm.I32}, {N: 2, Type: wasm.V128}}},
		{"data", slices.Collect(m.Data()), []wasm.Data{
			{Active: true, Offset: wasm.Init{Op: wasm.OpI32Const}, Bytes: []byte("a")},
			{Bytes: []byte("b")}}},
		{"how much data", [2]int{segments, bytes}, [2]int{2, 2}},
		{"a custom section", m.Custom(module, "first"), [][]byte{{1, 2, 3}}},
		{"imports from m", m.Uses("m"), true},
		{"imports from n", m.Uses("n"), false},
	} {
		t.Run(c.what, func(t *testing.T) {
			if fmt.Sprintf("%+v", c.got) != fmt.Sprintf("%+v", c.want) {
				t.Errorf("%+v, expected %+v", c.got, c.want)
			}
		})
	}
}

// TestParseRefuses: claims that are not kept, and bytes that could be read in
// two ways.
func TestParseRefuses(t *testing.T) {
	head := []byte("\x00asm\x01\x00\x00\x00")
	section := func(id byte, content ...byte) []byte {
		return wasm.AppendSection(bytes.Clone(head), id, content)
	}
	huge := wasm.AppendU32(nil, math.MaxUint32)
	for _, c := range []struct {
		why    string
		module []byte
	}{
		{"nothing", nil},
		{"text", []byte(" (module)")},
		{"a component", []byte("\x00asm\x0d\x00\x01\x00")},
		{"another version", []byte("\x00asm\x02\x00\x00\x00")},
		{"a section that is cut short", section(wasm.SectionType, 1)[:10]},
		{"a section of an unknown kind", section(13, 0)},
		{"two sections of a kind", slices.Concat(section(wasm.SectionStart, 0), section(wasm.SectionStart, 0)[8:])},
		{"sections out of order", slices.Concat(section(wasm.SectionMemory, 0), section(wasm.SectionType, 0)[8:])},
		{"bytes behind the last entry", section(wasm.SectionMemory, 0, 0)},
		{"four billion types", section(wasm.SectionType, huge...)},
		{"four billion functions", section(wasm.SectionFunction, huge...)},
		{"four billion globals", section(wasm.SectionGlobal, huge...)},
		{"four billion elements", section(wasm.SectionElement, slices.Concat([]byte{1, 1, 0}, huge)...)},
		{"four billion locals", section(wasm.SectionCode, slices.Concat([]byte{1, 8, 1}, huge, []byte{0x7f, wasm.OpEnd})...)},
		{"functions without bodies", section(wasm.SectionFunction, 1, 0)},
		{"a shared memory", section(wasm.SectionMemory, 1, 3, 1, 1)},
		{"a type of references with an index", section(wasm.SectionTable, 1, 0x63, 0, 1)},
		{"a table with an initializer", section(wasm.SectionTable, 1, 0x40, 0, 0x70, 0, 1)},
		{"a null with an index of two bytes", section(wasm.SectionGlobal, 1, 0x70, 0, wasm.OpRefNull, 0x81, 0, wasm.OpEnd)},
		{"elements of a type with an index", section(wasm.SectionElement, 1, 5, 0x63, 0, 0)},
		{"elements of another kind", section(wasm.SectionElement, 1, 1, 1, 0)},
		{"an initializer that computes", section(wasm.SectionGlobal, 1, 0x7f, 0, wasm.OpI32Const, 1, wasm.OpI32Const, 1,
			0x6a, wasm.OpEnd)},
		{"an initializer of a global that there is not", section(wasm.SectionGlobal, 1, 0x7f, 0, wasm.OpGlobalGet, 1,
			wasm.OpEnd)},
		{"a vector constant with a code in two bytes",
			section(wasm.SectionGlobal, slices.Concat([]byte{1, 0x7b, 0, wasm.OpSIMD, 0x8c, 0}, make([]byte, 16),
				[]byte{wasm.OpEnd})...)},
		{"a number of six bytes", section(wasm.SectionStart, 0x80, 0x80, 0x80, 0x80, 0x80, 0)},
		{"a number beyond 32 bits", section(wasm.SectionStart, 0xff, 0xff, 0xff, 0xff, 0x1f)},
		{"a name that is not text", section(wasm.SectionCustom, 1, 0xff)},
	} {
		t.Run(c.why, func(t *testing.T) {
			_, err := wasm.Parse(c.module)
			var form *wasm.FormError
			if !errors.As(err, &form) {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestNumbers: numbers are read as they are written.
func TestNumbers(t *testing.T) {
	for _, v := range []int64{0, 1, 63, 64, 127, 128, -1, -64, -65, 1 << 31, -1 << 31, 1<<32 - 1, math.MaxInt64,
		math.MinInt64} {
		t.Run(fmt.Sprintf("value %d", v), func(t *testing.T) {
			b := wasm.AppendS64(nil, v)
			if r := (&wasm.Reader{Data: b}); r.S64() != v || r.Err != nil || !r.Done() {
				t.Errorf("%d: %x: %+v", v, b, r)
			}
			b = wasm.AppendU32(nil, uint32(v))
			if r := (&wasm.Reader{Data: b}); r.U32() != uint32(v) || r.Err != nil || !r.Done() {
				t.Errorf("%d: %x: %+v", uint32(v), b, r)
			}
		})
	}
}
