package runtime

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

// module is what the host has to know of a module before it compiles it. It
// holds what is checked, described or rewritten; the engine validates the
// rest.
type module struct {
	types    []signature
	imports  []importEntry
	funcs    []uint32 // the type of each function that is not imported
	tables   []limitRange
	memories []limitRange
	exports  []exportEntry
	byName   map[string]exportEntry // the first export of each name
	sections []section
}

// section is one section: where it begins (its id), where its content does,
// and where it ends.
type section struct {
	id                byte
	name              string // of a custom section
	start, body, stop int
}

type importEntry struct {
	module, name string
	kind         byte
	typ          uint32 // of a function
}

type exportEntry struct {
	name  string
	kind  byte
	index uint32
}

// limitRange are the limits of a memory, in pages, or of a table, in elements.
type limitRange struct {
	elem   byte // of a table
	min    uint32
	max    uint32
	hasMax bool
}

// signature is the type of a function, as text: "(i32,i64)->i32" or, without
// results, "(i32)". Text compares, and reads well in errors.
type signature string

const (
	kindFunc = iota
	kindTable
	kindMemory
	kindGlobal
)

var kindNames = [...]string{"function", "table", "memory", "global"}

const (
	sectionCustom = iota
	sectionType
	sectionImport
	sectionFunction
	sectionTable
	sectionMemory
	sectionGlobal
	sectionExport
	sectionStart
	sectionElement
	sectionCode
	sectionData
	sectionDataCount
	sectionEnd
)

// Bounds of what is parsed. The largest of real plugins are far below them.
const (
	maxModuleBytes = 64 << 20
	maxTypes       = 100_000
	maxImports     = 1_000
	maxExports     = 10_000
	maxTables      = 100
	maxSections    = 10_000
	maxNameBytes   = 1 << 10
	maxParams      = 1_000
)

// errForm is why bytes are no module.
type errForm struct{ message, hint string }

func (e *errForm) Error() string { return e.message }

const (
	wasmMagic   = "\x00asm"
	wasmVersion = "\x01\x00\x00\x00"
)

// checkForm says what bytes are that are no core module.
func checkForm(wasm []byte) error {
	switch {
	case len(wasm) > maxModuleBytes:
		return &errForm{fmt.Sprintf("%d bytes, %d allowed", len(wasm), maxModuleBytes), "strip debug information, or build for size"}
	case len(wasm) >= 8 && string(wasm[:8]) == wasmMagic+wasmVersion:
		return nil
	case len(wasm) >= 8 && string(wasm[:4]) == wasmMagic && wasm[6] == 1:
		return &errForm{"a component, not a core module", "build a core module: for wasip1, not wasip2 or a component"}
	case len(wasm) >= 4 && string(wasm[:4]) == wasmMagic:
		return &errForm{"another version of WebAssembly, or cut short", "build for WebAssembly version 1"}
	case bytes.HasPrefix(bytes.TrimSpace(wasm), []byte("(")):
		return &errForm{"WebAssembly text, not a module", "assemble it with wat2wasm first"}
	case len(wasm) == 0:
		return &errForm{"empty", "build the plugin again"}
	}
	return &errForm{"not a WebAssembly module", "name a .wasm file"}
}

// parseModule reads what the host has to know of a module.
func parseModule(wasm []byte) (*module, error) {
	if err := checkForm(wasm); err != nil {
		return nil, err
	}
	m := &module{byName: make(map[string]exportEntry)}
	seen := [sectionEnd]bool{}
	r := &reader{data: wasm, pos: 8}
	for !r.done() {
		s := section{start: r.pos}
		s.id = r.byte()
		content := r.bytes(r.u32())
		if r.err != nil {
			return nil, malformed(s.start, r.err)
		}
		s.stop, s.body = r.pos, r.pos-len(content)
		if s.id >= sectionEnd {
			return nil, malformed(s.start, fmt.Errorf("a section of kind %d", s.id))
		}
		if s.id != sectionCustom && seen[s.id] {
			return nil, malformed(s.start, fmt.Errorf("a second section of kind %d", s.id))
		}
		seen[s.id] = true
		if err := m.parseSection(&s, content); err != nil {
			return nil, malformed(s.start, err)
		}
		if m.sections = append(m.sections, s); len(m.sections) > maxSections {
			return nil, malformed(s.start, fmt.Errorf("more than %d sections", maxSections))
		}
	}
	for _, e := range m.exports {
		if _, ok := m.byName[e.name]; !ok {
			m.byName[e.name] = e
		}
	}
	return m, nil
}

func malformed(pos int, err error) error {
	return &errForm{fmt.Sprintf("malformed at byte %d: %v", pos, err), "build the plugin again"}
}

func (m *module) parseSection(s *section, content []byte) error {
	r := &reader{data: content}
	switch s.id {
	case sectionCustom:
		s.name = r.name()
		s.body += r.pos
		return r.err
	case sectionType:
		r.vector(func() { m.types = capped(r, m.types, r.signature(), maxTypes) })
	case sectionImport:
		r.vector(func() { m.imports = capped(r, m.imports, r.importEntry(), maxImports) })
	case sectionFunction:
		r.vector(func() { m.funcs = capped(r, m.funcs, r.u32(), maxFuncs) })
	case sectionTable:
		r.vector(func() { m.tables = capped(r, m.tables, r.table(), maxTables) })
	case sectionMemory:
		r.vector(func() { m.memories = capped(r, m.memories, r.limits(), maxTables) })
	case sectionExport:
		r.vector(func() { m.exports = capped(r, m.exports, r.exportEntry(), maxExports) })
	case sectionGlobal:
		r.globals()
	case sectionElement:
		r.elements()
	case sectionCode:
		r.bodies()
	case sectionData:
		r.segments()
	case sectionStart, sectionDataCount:
		r.u32()
	}
	if r.err == nil && !r.done() {
		return errors.New("bytes after the last entry")
	}
	return r.err
}

// capped appends and bounds the length of the list.
func capped[T any](r *reader, list []T, v T, limit int) []T {
	if len(list) == limit {
		r.fail(fmt.Errorf("more than %d entries", limit))
	}
	return append(list, v)
}

func (r *reader) signature() signature {
	if r.byte() != 0x60 {
		r.fail(errors.New("a type that is no function's"))
	}
	var b strings.Builder
	b.WriteByte('(')
	r.valueTypes(&b)
	b.WriteByte(')')
	var results strings.Builder
	if r.valueTypes(&results); results.Len() > 0 {
		b.WriteString("->")
		b.WriteString(results.String())
	}
	return signature(b.String())
}

func (r *reader) valueTypes(b *strings.Builder) {
	n := 0
	r.vector(func() {
		if n++; n > maxParams {
			r.fail(fmt.Errorf("a type with more than %d values", maxParams))
		} else if n > 1 {
			b.WriteByte(',')
		}
		b.WriteString(r.valueType())
	})
}

func (r *reader) valueType() string {
	switch c := r.byte(); c {
	case 0x7f:
		return "i32"
	case 0x7e:
		return "i64"
	case 0x7d:
		return "f32"
	case 0x7c:
		return "f64"
	case 0x7b:
		return "v128"
	case 0x70:
		return "funcref"
	case 0x6f:
		return "externref"
	default:
		r.fail(fmt.Errorf("a value type %#x", c))
		return ""
	}
}

func (r *reader) importEntry() importEntry {
	e := importEntry{module: r.name(), name: r.name(), kind: r.byte()}
	switch e.kind {
	case kindFunc:
		e.typ = r.u32()
	case kindTable:
		r.table()
	case kindMemory:
		r.limits()
	case kindGlobal:
		r.valueType()
		r.byte()
	default:
		r.fail(fmt.Errorf("an import of kind %d", e.kind))
	}
	return e
}

func (r *reader) table() limitRange {
	elem := r.byte()
	if elem != 0x70 && elem != 0x6f {
		r.fail(fmt.Errorf("a table of elements %#x", elem))
	}
	l := r.limits()
	l.elem = elem
	return l
}

func (r *reader) limits() limitRange {
	var l limitRange
	switch flag := r.byte(); flag {
	case 0:
		l.min = r.u32()
	case 1:
		l.min, l.max, l.hasMax = r.u32(), r.u32(), true
	default:
		r.fail(fmt.Errorf("limits of kind %#x: shared and 64-bit memories are not supported", flag))
	}
	return l
}

func (r *reader) exportEntry() exportEntry {
	e := exportEntry{name: r.name(), kind: r.byte(), index: r.u32()}
	if len(e.name) > maxNameBytes {
		r.fail(fmt.Errorf("an export name of %d bytes", len(e.name)))
	}
	return e
}

// signatureOf returns the signature of a function by index, imported ones
// counted first.
func (m *module) signatureOf(index uint32) (signature, bool) {
	for _, imp := range m.imports {
		if imp.kind != kindFunc {
			continue
		}
		if index == 0 {
			return m.signature(imp.typ)
		}
		index--
	}
	if uint64(index) >= uint64(len(m.funcs)) {
		return "", false
	}
	return m.signature(m.funcs[index])
}

func (m *module) signature(typ uint32) (signature, bool) {
	if uint64(typ) >= uint64(len(m.types)) {
		return "", false
	}
	return m.types[typ], true
}

// export returns the signature of an exported function.
func (m *module) export(name string) (signature, bool) {
	e, ok := m.byName[name]
	if !ok || e.kind != kindFunc {
		return "", false
	}
	return m.signatureOf(e.index)
}

// uses reports whether anything is imported from the module of that name.
func (m *module) uses(name string) bool {
	for _, imp := range m.imports {
		if imp.module == name {
			return true
		}
	}
	return false
}

// custom returns the contents of the custom sections of that name.
func (m *module) custom(wasm []byte, name string) [][]byte {
	var found [][]byte
	for _, s := range m.sections {
		if s.id == sectionCustom && s.name == name {
			found = append(found, wasm[s.body:s.stop])
		}
	}
	return found
}

// hooks are the hooks the module exports, whatever they are.
func (m *module) hooks() []abi.Hook {
	var hooks []abi.Hook
	for _, h := range abi.Hooks {
		if _, ok := m.byName[string(h)]; ok {
			hooks = append(hooks, h)
		}
	}
	return hooks
}
