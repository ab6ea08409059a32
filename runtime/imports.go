package runtime

import (
	"slices"

	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// UnusedImports returns the functions that the module imports and no code of it names, as
// "module.Name", sorted. The error is of code refused.
func (module *Module) UnusedImports() ([]string, error) {
	m := module.wasm
	used := make([]bool, m.Imported[wasm.KindFunc])
	use := func(index uint32) {
		if int64(index) < int64(len(used)) {
			used[index] = true
		}
	}
	var code wasm.Code
	for _, b := range m.Bodies {
		if err := code.Decode(module.bin, b); err != nil {
			return nil, refused("read", "", err)
		}
		for _, in := range code.List {
			if in.Op == wasm.OpCall {
				use(in.A)
			}
		}
	}
	for _, ref := range m.FuncRefs {
		use(ref.Index)
	}
	for _, e := range m.Exports {
		if e.Kind == wasm.KindFunc {
			use(e.Index)
		}
	}
	var unused []string
	at := 0
	for _, i := range m.Imports {
		if i.Kind != wasm.KindFunc {
			continue
		}
		if !used[at] {
			unused = append(unused, i.Module+"."+i.Name)
		}
		at++
	}
	slices.Sort(unused)
	return unused, nil
}
