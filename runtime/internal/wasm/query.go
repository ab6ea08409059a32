package wasm

import (
	"slices"

	"github.com/kagewasm/kagewasm/internal/lists"
)

// SignatureOf returns the signature of a function by index.
func (m *Module) SignatureOf(index uint32) (Signature, bool) {
	if uint64(index) >= uint64(len(m.Funcs)) {
		return "", false
	}
	return m.Signature(m.Funcs[index])
}

// Signature returns a type, by its index, as text.
func (m *Module) Signature(typ uint32) (Signature, bool) {
	if uint64(typ) >= uint64(len(m.signatures)) {
		return "", false
	}
	return m.signatures[typ], true
}

// Export returns what is exported under a name.
func (m *Module) Export(name string) (Export, bool) {
	e, ok := m.byName[name]
	return e, ok
}

// ExportedFunc returns the signature of an exported function.
func (m *Module) ExportedFunc(name string) (Signature, bool) {
	e, ok := m.byName[name]
	if !ok || e.Kind != KindFunc {
		return "", false
	}
	return m.SignatureOf(e.Index)
}

// Uses reports whether anything is imported from the module of that name.
func (m *Module) Uses(name string) bool {
	return slices.ContainsFunc(m.Imports, func(i Import) bool { return i.Module == name })
}

// Custom returns the contents of the custom sections of that name.
func (m *Module) Custom(wasm []byte, name string) [][]byte {
	found := lists.Filter(m.Sections, func(s Section) bool { return s.ID == SectionCustom && s.Name == name })
	return lists.Map(found, func(s Section) []byte { return wasm[s.Body:s.Stop] })
}

// Trim drops what shares the module's bytes or is needed for compiling alone.
func (m *Module) Trim() { m.Bodies, m.data, m.FuncRefs, m.Sections = nil, nil, nil, nil }
