package meter_test

import (
	"maps"
	"slices"

	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// sections is a module by the contents of its sections.
type sections map[byte][]byte

// order is that of sections in a module.
var order = []byte{
	wasm.SectionType, wasm.SectionImport, wasm.SectionFunction, wasm.SectionTable, wasm.SectionMemory, wasm.SectionGlobal,
	wasm.SectionExport, wasm.SectionStart, wasm.SectionElement, wasm.SectionDataCount, wasm.SectionCode, wasm.SectionData,
}

func (s sections) bytes() []byte {
	b := []byte("\x00asm\x01\x00\x00\x00")
	for _, id := range order {
		if content, ok := s[id]; ok {
			b = wasm.AppendSection(b, id, content)
		}
	}
	return b
}

// with is the module with sections replaced.
func (s sections) with(other sections) sections {
	s = maps.Clone(s)
	maps.Copy(s, other)
	return s
}

// vector is a counted list.
func vector(entries ...[]byte) []byte {
	return append(wasm.AppendU32(nil, uint32(len(entries))), slices.Concat(entries...)...)
}

// function is the entry of a function without locals of its own; the last end
// is added.
func function(code ...[]byte) []byte {
	body := slices.Concat([]byte{0}, slices.Concat(code...), []byte{wasm.OpEnd})
	return append(wasm.AppendU32(nil, uint32(len(body))), body...)
}

// void is a module of functions () -> () with a memory, a table and a global.
func void(functions ...[]byte) sections {
	types := vector(slices.Repeat([][]byte{{0}}, len(functions))...)
	return sections{
		wasm.SectionType:     {1, 0x60, 0, 0},
		wasm.SectionFunction: types,
		wasm.SectionTable:    {1, byte(wasm.FuncRefT), 0, 4},
		wasm.SectionMemory:   {1, 0, 1},
		wasm.SectionGlobal:   {1, byte(wasm.I32), 1, wasm.OpI32Const, 0, wasm.OpEnd},
		wasm.SectionCode:     vector(functions...),
	}
}
