package meter

import "github.com/kagewasm/kagewasm/runtime/internal/wasm"

// crude is what is said of the locals of a function for which it would take too
// long to find out more: every value that is assigned or joined has a place.
// It also counts the borders of basic blocks.
func (f *flow) crude() (bytes, borders int) {
	type open struct{ assigned, backs int }
	var (
		stack    = make([]open, 1, 64)
		assigned int
		values   = f.locals
	)
	back := func(id int32) {
		if b := &f.blocks[id]; b.op == wasm.OpLoop {
			stack[b.level].backs++
		}
	}
	for i := range f.code.List {
		switch in := &f.code.List[i]; in.Op {
		case wasm.OpLocalSet, wasm.OpLocalTee:
			assigned++
			values++
		case wasm.OpBlock, wasm.OpLoop, wasm.OpIf:
			stack = append(stack, open{assigned: assigned})
			borders++
		case wasm.OpEnd:
			top := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			values += min(assigned-top.assigned, f.locals) * (3 + top.backs)
			borders++
		case wasm.OpBr, wasm.OpBrIf:
			back(f.ref[i])
			borders++
		case wasm.OpBrTable:
			for _, id := range f.tableRefs[in.A : in.A+in.B] {
				back(id)
			}
			borders++
		default:
			if accesses(in.Op) || in.Op == wasm.OpGlobalGet {
				values += 2
			}
			if calls(in) || in.Op == wasm.OpElse {
				borders++
			}
		}
	}
	return (values + borders*hidden) * frameValue, borders
}
