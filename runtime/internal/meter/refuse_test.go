package meter_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/runtime/internal/meter"
	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// TestRefuses: nothing of a guest's can name what is added, and nothing can
// hide from the rewriter what the engine runs.
func TestRefuses(t *testing.T) {
	features.Proves(t, "N1")
	tight := []byte{wasm.OpLoop, 0x40, wasm.OpI32Const, 0, wasm.OpBrIf, 0, wasm.OpEnd}
	plain := void(function())
	offset := func(global byte) []byte { return []byte{wasm.OpGlobalGet, global, wasm.OpEnd} }
	hidden := slices.Concat([]byte{wasm.OpSIMD, 0x8c, 0x00}, []byte{wasm.OpLoop, 0x40, wasm.OpBr, 0, wasm.OpEnd},
		make([]byte, 11))
	name := func(module, field string) []byte {
		return append(wasm.AppendName(wasm.AppendName(nil, module), field), wasm.KindFunc, 0)
	}
	locals := append([]byte{1}, append(wasm.AppendU32(nil, 4_000), byte(wasm.I64), wasm.OpEnd)...)
	locals = append([]byte{byte(len(locals))}, locals...)
	globals := slices.Concat(wasm.AppendU32(nil, 10_000),
		slices.Repeat([]byte{byte(wasm.I32), 1, wasm.OpI32Const, 0, wasm.OpEnd}, 10_000))
	for _, c := range []struct {
		why    string
		module sections
	}{
		{"the local that counts in a tight loop", void(function(tight, idx(wasm.OpLocalGet, 0), []byte{wasm.OpDrop}))},
		{"setting the local", void(function(tight, []byte{wasm.OpI32Const, 9}, idx(wasm.OpLocalSet, 0)))},
		{"the global of the fuel", void(function(idx(wasm.OpGlobalGet, 1), []byte{wasm.OpDrop}))},
		{"setting the global", void(function([]byte{wasm.OpI32Const, 9}, idx(wasm.OpGlobalSet, 1)))},
		{"exporting the global", plain.with(
			sections{wasm.SectionExport: vector(append(wasm.AppendName(nil, "g"), wasm.KindGlobal, 1))})},
		{"an offset of elements by it", plain.with(
			sections{wasm.SectionElement: slices.Concat([]byte{1, 0}, offset(1), []byte{1, 0})})},
		{"an offset of data by it", plain.with(
			sections{wasm.SectionData: slices.Concat([]byte{1, 0}, offset(2), []byte{1, 0})})},
		{"a global that begins as it", plain.with(
			sections{wasm.SectionGlobal: slices.Concat([]byte{1, byte(wasm.I32), 1}, offset(3))})},
		{"calling what is added", void(function(idx(wasm.OpCall, 1)))},
		{"a reference to it", void(function(idx(wasm.OpRefFunc, 1), []byte{wasm.OpDrop}))},
		{"an element of it", plain.with(sections{wasm.SectionElement: {1, 0, wasm.OpI32Const, 0, wasm.OpEnd, 1, 1}})},
		{"a global that refers to it", plain.with(
			sections{wasm.SectionGlobal: {1, byte(wasm.FuncRefT), 0, wasm.OpRefFunc, 2, wasm.OpEnd}})},
		{"exporting what is added", plain.with(
			sections{wasm.SectionExport: vector(append(wasm.AppendName(nil, "f"), wasm.KindFunc, 1))})},
		{"starting with it", plain.with(sections{wasm.SectionStart: {1}})},
		{"an added type", void(function([]byte{wasm.OpBlock, 1, wasm.OpEnd}))},
		{"a call of an added type", void(function([]byte{wasm.OpI32Const, 0, wasm.OpCallIndirect, 1, 0}))},
		{"a function of an added type", plain.with(sections{wasm.SectionFunction: {1, 1}})},
		{"an import of an added type", plain.with(
			sections{wasm.SectionImport: vector(append(wasm.AppendName(wasm.AppendName(nil, "m"), "f"), wasm.KindFunc, 1))})},
		{"importing the tick", plain.with(sections{wasm.SectionImport: vector(name(meter.Module, meter.Tick))})},
		{"exporting a counter", plain.with(
			sections{wasm.SectionExport: vector(append(wasm.AppendName(nil, meter.Fuel), wasm.KindGlobal, 0))})},
		{"a loop in what looks like a constant", void(function(hidden))},
		{"growing a memory that there is not", void(function([]byte{wasm.OpI32Const, 1, wasm.OpMemoryGrow, 1, wasm.OpDrop}))},
		{"4,000 locals in each of 20,000 functions, none of which is used", void(slices.Repeat([][]byte{locals}, 20_000)...)},
		{"calls times mutable globals, each of which is read behind each call",
			void(function(slices.Repeat([]byte{wasm.OpCall, 0}, 501))).with(sections{wasm.SectionGlobal: globals})},
	} {
		t.Run(c.why, func(t *testing.T) {
			_, _, err := rewrite(c.module.bytes())
			var form *wasm.FormError
			if !errors.As(err, &form) {
				t.Errorf("%s: %v", c.why, err)
			}
		})
	}
	if _, _, err := rewrite(plain.bytes()); err != nil {
		t.Errorf("a plain module: %v", err)
	}
}

// TestDepth: recursion of any kind takes from the stack that is left, up to
// where the host ends it.
func TestDepth(t *testing.T) {
	count := []byte{wasm.OpGlobalGet, 0, wasm.OpI32Const, 1, 0x6a, wasm.OpGlobalSet, 0}
	elements := sections{wasm.SectionElement: {1, 0, wasm.OpI32Const, 0, wasm.OpEnd, 2, 0, 1}}
	through := []byte{wasm.OpI32Const, 1, wasm.OpCallIndirect, 0, 0}
	for _, c := range []struct {
		why    string
		module sections
	}{
		{"direct", void(function(count, idx(wasm.OpCall, 0)))},
		{"through three functions", void(function(count, idx(wasm.OpCall, 1)), function(idx(wasm.OpCall, 2)),
			function(idx(wasm.OpCall, 0)))},
		{"through a table", void(function(count, through), function(count, through)).with(elements)},
		{"through a table and back directly", void(function(count, through), function(idx(wasm.OpCall, 0))).with(elements)},
		{"in a loop", void(function(count, []byte{wasm.OpLoop, 0x40}, idx(wasm.OpCall, 0),
			[]byte{wasm.OpBr, 0, wasm.OpEnd}))},
		{"twice", void(function(count, idx(wasm.OpCall, 0), idx(wasm.OpCall, 0)))},
		{"of two types", void(
			function(count, []byte{wasm.OpI32Const, 7, wasm.OpI32Const, 1, wasm.OpCallIndirect, 1, 0, wasm.OpDrop}),
			function([]byte{wasm.OpI32Const, 0, wasm.OpCallIndirect, 0, 0, wasm.OpLocalGet, 0}),
		).with(elements).with(sections{wasm.SectionType: {2, 0x60, 0, 0, 0x60, 1, byte(wasm.I32), 1, byte(wasm.I32)},
			wasm.SectionFunction: {2, 0, 1}})},
	} {
		t.Run(c.why, func(t *testing.T) {
			exports := vector(append(wasm.AppendName(nil, "run"), wasm.KindFunc, 0),
				append(wasm.AppendName(nil, "calls"), wasm.KindGlobal, 0))
			module := mustRewrite(t, c.module.with(sections{wasm.SectionExport: exports}).bytes())
			r := engines[0].runtime(t)
			h := &host{depth: 1 << 20}
			h.instantiate(t, r)
			m, err := r.Instantiate(t.Context(), module)
			if err != nil {
				t.Fatalf("%v", err)
			}
			h.start(m)
			_, err = m.ExportedFunction("run").Call(t.Context())
			calls := m.ExportedGlobal("calls").Get()
			if !errors.Is(err, errStack) || calls < 100 || calls > 1<<20/64 {
				t.Errorf("%d calls: %v", calls, err)
			}
			if h.deepest > 4_000 {
				t.Errorf("ended with %d bytes left", h.deepest)
			}
		})
	}
}
