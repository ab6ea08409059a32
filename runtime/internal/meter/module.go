package meter

import (
	"fmt"
	"strings"

	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// module is a module with what the meter has to know of every index. Each index
// is held against what the guest has of its own, before anything is added: a
// guest must not reach what is.
type module struct {
	*wasm.Module
	bytes    []byte
	imported uint32 // functions
	mutable  int    // globals
	// signatures number the types so that equal ones have equal numbers.
	signatures []int32
	ticks      []bool // by imported function
}

func newModule(bytes []byte, parsed *wasm.Module, o Options) (*module, error) {
	m := &module{Module: parsed, bytes: bytes, imported: uint32(parsed.Imported[wasm.KindFunc])}
	for _, g := range m.Globals {
		if g.Mutable {
			m.mutable++
		}
	}
	byText := make(map[wasm.Signature]int32, len(m.Types))
	for i := range m.Types {
		sig, _ := m.Signature(uint32(i))
		if _, ok := byText[sig]; !ok {
			byText[sig] = int32(len(byText))
		}
		m.signatures = append(m.signatures, byText[sig])
	}
	for i := range m.Imports {
		imp := &m.Imports[i]
		if imp.Module == Module {
			return nil, fmt.Errorf("an import from %s, which is the host's own", Module)
		}
		if imp.Kind == wasm.KindFunc {
			m.ticks = append(m.ticks, o.TickAfter == nil || o.TickAfter(imp.Module, imp.Name))
		}
	}
	return m, m.checkNames()
}

// checkNames holds what is named outside of code against what there is.
func (m *module) checkNames() error {
	for _, t := range m.Funcs {
		if _, err := m.typeOf(t); err != nil {
			return err
		}
	}
	for _, ref := range m.FuncRefs {
		if err := m.checkFunc(ref.Index); err != nil {
			return fmt.Errorf("at byte %d: %w", ref.Pos, err)
		}
	}
	for _, e := range m.Exports {
		var err error
		switch {
		case strings.HasPrefix(e.Name, Prefix):
			return fmt.Errorf("an export %q: names that begin with %s are the host's", e.Name, Prefix)
		case e.Kind == wasm.KindFunc:
			err = m.checkFunc(e.Index)
		case e.Kind == wasm.KindGlobal:
			err = below("global", e.Index, len(m.Globals))
		}
		if err != nil {
			return fmt.Errorf("at byte %d: %w", e.Pos, err)
		}
	}
	return nil
}

// below is an error where an index is not below a number.
func below(what string, index uint32, n int) error {
	if uint64(index) >= uint64(n) {
		return fmt.Errorf("%s %d of %d", what, index, n)
	}
	return nil
}

func (m *module) checkFunc(index uint32) error { return below("function", index, len(m.Funcs)) }

func (m *module) typeOf(index uint32) (*wasm.FuncType, error) {
	if err := below("type", index, len(m.Types)); err != nil {
		return nil, err
	}
	return &m.Types[index], nil
}

// bodyType is the type of a function that is not imported.
func (m *module) bodyType(i int) *wasm.FuncType { return &m.Types[m.Funcs[int(m.imported)+i]] }

// width is how many values functions of a type take and return.
func width(t *wasm.FuncType) int { return len(t.Params) + len(t.Results) }

// calleeType is the type of what a call calls.
func (m *module) calleeType(in *wasm.Instr) *wasm.FuncType {
	if in.Op == wasm.OpCallIndirect {
		return &m.Types[in.A]
	}
	return &m.Types[m.Funcs[in.A]]
}

// checkIndex holds the index of an instruction of a function with so many
// locals against what there is.
func (m *module) checkIndex(in *wasm.Instr, locals int) error {
	switch in.Op {
	case wasm.OpLocalGet, wasm.OpLocalSet, wasm.OpLocalTee:
		return below("local", in.A, locals)
	case wasm.OpGlobalGet, wasm.OpGlobalSet:
		return below("global", in.A, len(m.Globals))
	case wasm.OpCall, wasm.OpRefFunc:
		return m.checkFunc(in.A)
	case wasm.OpCallIndirect:
		if err := below("table", in.B, len(m.Tables)); err != nil {
			return err
		}
		return below("type", in.A, len(m.Types))
	}
	return nil
}
