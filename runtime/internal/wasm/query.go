package wasm

// ImportedFuncs is how many of the functions are imported. Their indices come
// first.
func (m *Module) ImportedFuncs() int { return m.imported(KindFunc) }

func (m *Module) imported(kind byte) int {
	n := 0
	for i := range m.Imports {
		if m.Imports[i].Kind == kind {
			n++
		}
	}
	return n
}

// AllGlobals are the types of all globals, by index.
func (m *Module) AllGlobals() []GlobalType {
	var all []GlobalType
	for i := range m.Imports {
		if m.Imports[i].Kind == KindGlobal {
			all = append(all, m.Imports[i].Global)
		}
	}
	return append(all, m.Globals...)
}

// AllTables are all tables, by index.
func (m *Module) AllTables() []Table {
	var all []Table
	for i := range m.Imports {
		if m.Imports[i].Kind == KindTable {
			all = append(all, m.Imports[i].Table)
		}
	}
	return append(all, m.Tables...)
}

// FuncTypes are the indices of the types of all functions, by index.
func (m *Module) FuncTypes() []uint32 {
	var all []uint32
	for i := range m.Imports {
		if m.Imports[i].Kind == KindFunc {
			all = append(all, m.Imports[i].Type)
		}
	}
	return append(all, m.Funcs...)
}

// SignatureOf returns the signature of a function by index, imported ones
// counted first.
func (m *Module) SignatureOf(index uint32) (Signature, bool) {
	for i := range m.Imports {
		if m.Imports[i].Kind != KindFunc {
			continue
		}
		if index == 0 {
			return m.Signature(m.Imports[i].Type)
		}
		index--
	}
	if uint64(index) >= uint64(len(m.Funcs)) {
		return "", false
	}
	return m.Signature(m.Funcs[index])
}

// Signature returns a type, by its index, as text.
func (m *Module) Signature(typ uint32) (Signature, bool) {
	if uint64(typ) >= uint64(len(m.Types)) {
		return "", false
	}
	return m.Types[typ].Signature(), true
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
	for i := range m.Imports {
		if m.Imports[i].Module == name {
			return true
		}
	}
	return false
}

// Custom returns the contents of the custom sections of that name.
func (m *Module) Custom(wasm []byte, name string) [][]byte {
	var found [][]byte
	for _, s := range m.Sections {
		if s.ID == SectionCustom && s.Name == name {
			found = append(found, wasm[s.Body:s.Stop])
		}
	}
	return found
}

// Trim drops what shares the module's bytes or is needed for compiling alone.
func (m *Module) Trim() { m.Bodies, m.Data, m.FuncRefs, m.Sections = nil, nil, nil, nil }
