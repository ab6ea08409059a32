package wasm

import (
	"bytes"
	"errors"
	"fmt"
)

// Module is what a host has to know of a module. It holds what is checked,
// described or rewritten; the engine validates the rest. Positions are of the
// module's bytes.
type Module struct {
	Types    []FuncType
	Imports  []Import
	Imported [4]int // how many of each kind are imported; their indices come first
	// By index: the types of functions, tables, memories, globals.
	Funcs    []uint32
	Tables   []Table
	Memories []Limits
	Globals  []GlobalType
	Exports  []Export
	Start    *uint32 // the function that runs first
	Bodies   []Body  // of the functions that are not imported
	Sections []Section

	// FuncRefs are the places outside of code and exports that name a
	// function, in their order: the start section, element segments, initializers.
	FuncRefs []FuncRef

	data        []byte            // the data section, nil where there is none
	segments    int               // in it
	dataBytes   int               // that they hold
	byName      map[string]Export // the first export of each name
	initGlobals uint64            // how many globals initializers suppose there are
	size        int               // of the whole, in bytes
	values      int               // that all types take and give, together
	signatures  []Signature       // of the types: thousands of exports may have the same one
}

// Section is one section: where it begins (its id), where its content does,
// and where it ends.
type Section struct {
	ID                byte
	Name              string // of a custom section
	Start, Body, Stop int
}

// Import is an imported function, table, memory or global.
type Import struct {
	Module, Name string
	Kind         byte
	Type         uint32 // of a function
}

// Export is what is exported under a name.
type Export struct {
	Name  string
	Kind  byte
	Index uint32
	Pos   int // of the index
}

// Limits are those of a memory, in pages, or of a table, in elements.
type Limits struct {
	Min, Max uint32
	HasMax   bool
}

// Table is a table of references.
type Table struct {
	Elem ValueType
	Limits
}

// GlobalType is the type of a global.
type GlobalType struct {
	Type    ValueType
	Mutable bool
}

// FuncRef is a place that names a function.
type FuncRef struct{ Pos, Index uint32 }

// Body is the code of a function: its locals, and where the instructions are.
type Body struct {
	Start      int // of the locals
	Code, Stop int
	Locals     []Locals
}

// Locals are a number of locals of one type.
type Locals struct {
	N    uint32
	Type ValueType
}

// Data is a data segment. An active one is copied to the memory before
// anything runs.
type Data struct {
	Active bool
	Offset Init
	Bytes  []byte
}

// Init is an initializer: its instruction and, for an i32.const, the value.
type Init struct {
	Op    byte
	Value int32
}

// The kinds of imports and exports.
const (
	KindFunc = iota
	KindTable
	KindMemory
	KindGlobal
)

// The ids of sections.
const (
	SectionCustom = iota
	SectionType
	SectionImport
	SectionFunction
	SectionTable
	SectionMemory
	SectionGlobal
	SectionExport
	SectionStart
	SectionElement
	SectionCode
	SectionData
	SectionDataCount
	sectionEnd
)

// place is where each section comes.
var place = [sectionEnd]int{
	SectionType: 1, SectionImport: 2, SectionFunction: 3, SectionTable: 4, SectionMemory: 5, SectionGlobal: 6,
	SectionExport: 7, SectionStart: 8, SectionElement: 9, SectionDataCount: 10, SectionCode: 11, SectionData: 12,
}

// Bounds of what is parsed. The largest of real plugins are far below them.
const (
	MaxBytes     = 64 << 20 // a module
	MaxFuncs     = 200_000
	MaxImports   = 1_000
	MaxNameBytes = 1 << 10 // the name of an export, or in a stack trace
	// MaxElements bounds all tables together, and all element segments.
	MaxElements = 1_000_000
	// MaxBody and MaxLocals bound a function.
	MaxBody   = 256 << 10
	MaxLocals = 4_096

	// maxTypeValues is how many values the types of a module may have together, and
	// one more for each so many bytes: real modules have fewer than 1,000, but for
	// those of GHC, which have one for each 150 bytes.
	maxTypeValues = 20_000
	bytesPerValue = 64

	maxTypes    = 100_000
	maxExports  = 10_000
	maxTables   = 100
	maxSections = 10_000
	maxValues   = 1_000 // of a type, on one side
	maxGlobals  = 10_000
	maxSegments = 10_000 // of elements
	maxData     = 500_000
	maxInit     = 16 // instructions of an initializer
)

// FormError is why bytes are no module that can be taken. Hint says what its
// author can do.
type FormError struct{ Message, Hint string }

func (e *FormError) Error() string { return e.Message }

const (
	magic   = "\x00asm"
	version = "\x01\x00\x00\x00"
	// HeaderBytes is the length of what comes before the first section.
	HeaderBytes = len(magic) + len(version)
)

// checkForm says what bytes are that are no core module.
func checkForm(wasm []byte) error {
	switch {
	case len(wasm) > MaxBytes:
		message := fmt.Sprintf("%d bytes, %d allowed", len(wasm), MaxBytes)
		return &FormError{message, "strip debug information, or build for size"}
	case len(wasm) >= 8 && string(wasm[:8]) == magic+version:
		return nil
	case len(wasm) >= 8 && string(wasm[:4]) == magic && wasm[6] == 1:
		return &FormError{"a component, not a core module", "build a core module: for wasip1, not wasip2 or a component"}
	case len(wasm) >= 4 && string(wasm[:4]) == magic:
		return &FormError{"another version of WebAssembly, or cut short", "build for WebAssembly version 1"}
	case bytes.HasPrefix(bytes.TrimSpace(wasm), []byte("(")):
		return &FormError{"WebAssembly text, not a module", "assemble it with wat2wasm first"}
	case len(wasm) == 0:
		return &FormError{"empty", "build the plugin again"}
	}
	return &FormError{"not a WebAssembly module", "name a .wasm file"}
}

// Parse reads a module. It takes time and memory in proportion to its length.
// The error is a *FormError. The module shares the bytes, which must not change.
func Parse(wasm []byte) (*Module, error) {
	if err := checkForm(wasm); err != nil {
		return nil, err
	}
	m := &Module{byName: make(map[string]Export), size: len(wasm)}
	seen, last := [sectionEnd]bool{}, 0
	r := &Reader{Data: wasm, Pos: HeaderBytes}
	for !r.Done() {
		s := Section{Start: r.Pos}
		s.ID = r.Byte()
		content := r.Bytes(r.U32())
		if r.Err != nil {
			return nil, malformed(s.Start, r.Err)
		}
		s.Stop, s.Body = r.Pos, r.Pos-len(content)
		if s.ID >= sectionEnd {
			return nil, malformed(s.Start, fmt.Errorf("a section of kind %d", s.ID))
		}
		if s.ID != SectionCustom && seen[s.ID] {
			return nil, malformed(s.Start, fmt.Errorf("a second section of kind %d", s.ID))
		}
		if s.ID != SectionCustom && place[s.ID] < last {
			return nil, malformed(s.Start, fmt.Errorf("a section of kind %d, out of order", s.ID))
		}
		seen[s.ID], last = true, max(last, place[s.ID])
		if err := m.parseSection(&s, &Reader{Data: wasm[:s.Stop], Pos: s.Body}); err != nil {
			return nil, malformed(s.Start, err)
		}
		if m.Sections = append(m.Sections, s); len(m.Sections) > maxSections {
			return nil, malformed(s.Start, fmt.Errorf("more than %d sections", maxSections))
		}
	}
	if n := len(m.Globals); m.initGlobals > uint64(n) {
		return nil, malformed(r.Pos, fmt.Errorf("an initializer of global %d, of %d", m.initGlobals-1, n))
	}
	if n := len(m.Funcs) - m.Imported[KindFunc]; len(m.Bodies) != n {
		return nil, malformed(r.Pos, fmt.Errorf("%d functions and %d bodies", n, len(m.Bodies)))
	}
	for _, e := range m.Exports {
		if _, ok := m.byName[e.Name]; !ok {
			m.byName[e.Name] = e
		}
	}
	return m, nil
}

// bound is a fault of size: the bytes are WebAssembly, and too much of it.
type bound struct{ error }

func malformed(pos int, err error) error {
	if _, ok := errors.AsType[bound](err); ok {
		return &FormError{fmt.Sprintf("at byte %d: %v", pos, err), "build it for size, or split what is so large"}
	}
	return &FormError{fmt.Sprintf("malformed at byte %d: %v", pos, err), "build the plugin again"}
}

func tooMany(n, limit uint32) error { return bound{fmt.Errorf("%d entries, %d allowed", n, limit)} }

func (m *Module) parseSection(s *Section, r *Reader) error {
	switch s.ID {
	case SectionCustom:
		s.Name = r.Name()
		s.Body = r.Pos
		return r.Err
	case SectionType:
		r.Vector(atMost(r, maxTypes, func() { m.typeEntry(r) }))
	case SectionImport:
		r.Vector(atMost(r, MaxImports, func() { m.importEntry(r) }))
	case SectionFunction:
		r.Vector(atMost(r, MaxFuncs, func() { m.Funcs = append(m.Funcs, r.U32()) }))
	case SectionTable:
		r.Vector(atMost(r, maxTables, func() { m.Tables = append(m.Tables, r.table()) }))
	case SectionMemory:
		r.Vector(atMost(r, maxTables, func() { m.Memories = append(m.Memories, r.limits()) }))
	case SectionExport:
		r.Vector(atMost(r, maxExports, func() { m.Exports = append(m.Exports, r.exportEntry()) }))
	case SectionGlobal:
		m.globals(r)
	case SectionElement:
		m.elements(r)
	case SectionCode:
		m.bodies(r)
	case SectionData:
		m.dataSection(r)
	case SectionStart:
		pos := r.Pos
		m.Start = new(r.U32())
		m.FuncRefs = append(m.FuncRefs, FuncRef{uint32(pos), *m.Start})
	case SectionDataCount:
		r.U32()
	}
	if r.Err == nil && !r.Done() {
		return errors.New("bytes after the last entry")
	}
	return r.Err
}

// atMost bounds a list by its entries, not by how many it says there are.
func atMost(r *Reader, limit int, entry func()) func() {
	n := 0
	return func() {
		if n++; n > limit {
			r.Fail(bound{fmt.Errorf("more than %d entries", limit)})
		}
		entry()
	}
}
