package meter

import "github.com/kagewasm/kagewasm/runtime/internal/wasm"

// graph is who calls whom, directly. Functions are numbered without the
// imported ones.
type graph struct {
	view  *view
	funcs []node
	taken []uint32 // functions that can be called through a table
	// The time for compiling all of them, in nanoseconds, for the one that
	// takes longest, and which that is.
	compile, longest float64
	worst            uint32
	segments         bool // see Info
}

// node is what is known of a function.
type node struct {
	calls   []uint32
	state   byte
	done    bool   // its paths are known
	charged uint32 // the weight that callers charge for it
	// stacked are the bytes that it, and what it calls, take of the stack up to
	// the next calls that count their own.
	stacked uint32
	frame   uint32 // its own alone
	edits   []edit
}

const (
	unseen = iota
	active
	finished
)

// walk goes through the functions so that each comes after those it calls, but
// for calls in cycles: there is one call at least in every cycle whose callee
// comes later.
func (g *graph) walk(visit func(index uint32) error) error {
	type step struct {
		index uint32
		next  int
	}
	var stack []step
	for root := range g.funcs {
		if g.funcs[root].state != unseen {
			continue
		}
		g.funcs[root].state = active
		stack = append(stack, step{index: uint32(root)})
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			n := &g.funcs[top.index]
			if top.next < len(n.calls) {
				callee := n.calls[top.next]
				top.next++
				if g.funcs[callee].state == unseen {
					g.funcs[callee].state = active
					stack = append(stack, step{index: callee})
				}
				continue
			}
			if err := visit(top.index); err != nil {
				return err
			}
			n.state, n.calls = finished, nil
			stack = stack[:len(stack)-1]
		}
	}
	return nil
}

// segmented are the operations that Info.Segments is about.
var segmented = map[uint32]bool{
	wasm.MiscMemoryInit: true, wasm.MiscDataDrop: true, wasm.MiscTableInit: true, wasm.MiscElemDrop: true,
	wasm.MiscTableCopy: true, wasm.MiscTableGrow: true, wasm.MiscTableFill: true,
}

// scan finds the calls of all functions, and which of them can be called
// through tables.
func (g *graph) scan(f *flow) error {
	taken := make(map[uint32]bool)
	for _, ref := range g.view.FuncRefs {
		taken[ref.Index] = true
	}
	for i := range g.view.Bodies {
		if err := f.read(i); err != nil {
			return &inFunction{uint32(i) + g.view.imported, err}
		}
		n := &g.funcs[i]
		for k := range f.code.List {
			switch in := &f.code.List[k]; {
			case in.Op == wasm.OpCall && in.A >= g.view.imported:
				n.calls = append(n.calls, in.A-g.view.imported)
			case in.Op == wasm.OpRefFunc:
				taken[in.A] = true
			case in.Op == wasm.OpTableSet, in.Op == wasm.OpMisc && segmented[in.Sub]:
				g.segments = true
			}
		}
	}
	for index := range taken {
		g.taken = append(g.taken, index)
	}
	return nil
}

// indirect is what a call through a table costs its caller, by the number of
// the signature.
type indirect struct {
	charged, stacked uint32
	tick             bool // it may be an imported function that is followed by one
}

func (g *graph) indirect() []indirect {
	most := make([]indirect, len(g.view.signatures))
	for _, index := range g.taken {
		c := &most[g.view.signatures[g.view.types[index]]]
		if index < g.view.imported {
			c.charged = max(c.charged, weightImport)
			c.tick = c.tick || g.view.ticks[index]
			continue
		}
		n := &g.funcs[index-g.view.imported]
		c.charged, c.stacked = max(c.charged, n.charged), max(c.stacked, n.stacked)
	}
	return most
}
