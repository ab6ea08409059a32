package meter

import (
	"fmt"
	"strings"

	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// view is a module as the rewriter looks at it: with what it has to know of
// every index at hand.
type view struct {
	*wasm.Module
	bytes    []byte
	imported uint32 // functions
	types    []uint32
	globals  uint32
	mutable  int // globals
	tables   []wasm.Table
	// signatures number the types so that equal ones have equal numbers.
	signatures []int32
	ticks      []bool // by imported function
}

func newView(bytes []byte, m *wasm.Module, o Options) (*view, error) {
	v := &view{
		Module: m, bytes: bytes, imported: uint32(m.ImportedFuncs()), types: m.FuncTypes(),
		globals: uint32(len(m.AllGlobals())), tables: m.AllTables(),
	}
	for _, g := range m.AllGlobals() {
		if g.Mutable {
			v.mutable++
		}
	}
	byText := make(map[wasm.Signature]int32, len(m.Types))
	for _, t := range m.Types {
		sig := t.Signature()
		if _, ok := byText[sig]; !ok {
			byText[sig] = int32(len(byText))
		}
		v.signatures = append(v.signatures, byText[sig])
	}
	for i := range m.Imports {
		imp := &m.Imports[i]
		if imp.Module == Module {
			return nil, fmt.Errorf("an import from %s, which is the host's own", Module)
		}
		if imp.Kind == wasm.KindFunc {
			v.ticks = append(v.ticks, o.TickAfter == nil || o.TickAfter(imp.Module, imp.Name))
		}
	}
	for _, t := range v.types {
		if _, err := v.typeOf(t); err != nil {
			return nil, err
		}
	}
	for _, ref := range m.FuncRefs {
		if err := v.checkFunc(ref.Index); err != nil {
			return nil, fmt.Errorf("at byte %d: %w", ref.Pos, err)
		}
	}
	for _, e := range m.Exports {
		if strings.HasPrefix(e.Name, Prefix) {
			return nil, fmt.Errorf("an export %q: names that begin with %s are the host's", e.Name, Prefix)
		}
		if e.Kind == wasm.KindFunc {
			if err := v.checkFunc(e.Index); err != nil {
				return nil, fmt.Errorf("at byte %d: %w", e.Pos, err)
			}
		}
		if e.Kind == wasm.KindGlobal && e.Index >= v.globals {
			return nil, fmt.Errorf("at byte %d: global %d of %d", e.Pos, e.Index, v.globals)
		}
	}
	return v, nil
}

// Everything an index can name is counted before anything is added: a guest
// must not reach what is.

func (v *view) typeOf(index uint32) (*wasm.FuncType, error) {
	if uint64(index) >= uint64(len(v.Types)) {
		return nil, fmt.Errorf("type %d of %d", index, len(v.Types))
	}
	return &v.Types[index], nil
}

// width is how many values functions of a type take and return.
func (v *view) width(typ uint32) int {
	return len(v.Types[typ].Params) + len(v.Types[typ].Results)
}

func (v *view) checkFunc(index uint32) error {
	if uint64(index) >= uint64(len(v.types)) {
		return fmt.Errorf("function %d of %d", index, len(v.types))
	}
	return nil
}

// calleeType is the type of what a call calls.
func (v *view) calleeType(in *wasm.Instr) (*wasm.FuncType, error) {
	if in.Op == wasm.OpCallIndirect {
		if uint64(in.B) >= uint64(len(v.tables)) {
			return nil, fmt.Errorf("table %d of %d", in.B, len(v.tables))
		}
		return v.typeOf(in.A)
	}
	if err := v.checkFunc(in.A); err != nil {
		return nil, err
	}
	return v.typeOf(v.types[in.A])
}

// checkIndex holds the index of an instruction of a function with so many
// locals against what there is.
func (v *view) checkIndex(in *wasm.Instr, locals int) error {
	switch {
	case in.Op >= wasm.OpLocalGet && in.Op <= wasm.OpLocalTee && uint64(in.A) >= uint64(locals):
		return fmt.Errorf("local %d of %d", in.A, locals)
	case (in.Op == wasm.OpGlobalGet || in.Op == wasm.OpGlobalSet) && in.A >= v.globals:
		return fmt.Errorf("global %d of %d", in.A, v.globals)
	case in.Op == wasm.OpRefFunc:
		return v.checkFunc(in.A)
	}
	return nil
}
