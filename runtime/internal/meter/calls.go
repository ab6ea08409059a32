package meter

import (
	"maps"
	"slices"

	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/set"
	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// callGraph is who calls whom, directly, and what is known of each function.
// Functions are numbered without the imported ones.
type callGraph struct {
	module *module
	funcs  []node
	taken  []uint32 // functions that can be called through a table
	info   Info
}

// node is what is known of a function.
type node struct {
	calls   []uint32
	seen    bool
	done    bool   // its edits are known
	charged uint32 // the cost that callers charge for it
	frame   uint32 // the bytes that it takes of the stack
	// stacked are those that it and what it calls take, up to the next calls
	// that count their own.
	stacked uint32
	edits   []edit
}

// analyse finds the edits of all functions. It refuses a module that would take
// too long to compile.
func analyse(m *module) (*callGraph, error) {
	g := &callGraph{module: m, funcs: make([]node, len(m.Bodies))}
	c := &charger{function: &function{module: m}, graph: g}
	if err := g.scan(c.function); err != nil {
		return nil, err
	}
	compile := compileTime{}
	err := g.walk(func(index uint32) error {
		if err := c.read(int(index)); err != nil {
			return &functionError{index + m.imported, err}
		}
		n := &g.funcs[index]
		n.charged = c.charge()
		c.frame.estimate(c.function, c.edits)
		n.frame = c.frame.bytes()
		n.stacked = min(n.frame+g.calleesStack(c.edits), maxFrame)
		g.info.Stack = max(g.info.Stack, n.stacked)
		n.edits = slices.Clone(c.edits)
		n.done = true
		memory, scratch := c.compileMemory(c.edits)
		compile.add(index+m.imported, c.compileTime(c.edits, c.frame.live, c.frame.borders), memory, scratch)
		return nil
	})
	if err != nil {
		return nil, err
	}
	g.info.Scratch = compile.scratch
	return g, compile.check(m)
}

// calleesStack is the most that the calls which do not count take of the stack.
func (g *callGraph) calleesStack(edits []edit) uint32 {
	most := uint32(0)
	for i := range edits {
		if e := &edits[i]; e.kind == editCall && e.op == wasm.OpCall {
			most = max(most, g.funcs[e.a-g.module.imported].stacked)
		}
	}
	return most
}

// scan finds the calls of all functions, and which of them can be called
// through tables.
func (g *callGraph) scan(f *function) error {
	taken := set.Of(lists.Map(g.module.FuncRefs, func(ref wasm.FuncRef) uint32 { return ref.Index })...)
	for i := range g.funcs {
		if err := f.read(i); err != nil {
			return &functionError{uint32(i) + g.module.imported, err}
		}
		n := &g.funcs[i]
		for k := range f.code.List {
			switch in := &f.code.List[k]; {
			case in.Op == wasm.OpCall && in.A >= g.module.imported:
				n.calls = append(n.calls, in.A-g.module.imported)
			case in.Op == wasm.OpRefFunc:
				taken[in.A] = true
			case in.Op == wasm.OpTableSet, in.Op == wasm.OpMisc && usesSegments(in.Sub):
				g.info.Segments = true
			}
		}
	}
	g.taken = slices.Collect(maps.Keys(taken))
	return nil
}

// usesSegments reports whether an instruction is one that Info.Segments is about.
func usesSegments(sub uint32) bool {
	switch sub {
	case wasm.MiscMemoryCopy, wasm.MiscMemoryFill, wasm.MiscTableSize:
		return false
	}
	return sub >= wasm.MiscMemoryInit
}

// walk goes through the functions so that each comes after those it calls, but
// for calls in cycles: there is one call at least in every cycle whose callee
// comes later.
func (g *callGraph) walk(visit func(index uint32) error) error {
	var stack []uint32
	enter := func(index uint32) {
		if !g.funcs[index].seen {
			g.funcs[index].seen = true
			stack = append(stack, index)
		}
	}
	for root := range g.funcs {
		enter(uint32(root))
		for len(stack) > 0 {
			index := stack[len(stack)-1]
			n := &g.funcs[index]
			if len(n.calls) > 0 {
				callee := n.calls[0]
				n.calls = n.calls[1:]
				enter(callee)
				continue
			}
			if err := visit(index); err != nil {
				return err
			}
			n.calls = nil
			stack = stack[:len(stack)-1]
		}
	}
	return nil
}

// indirect is what a call through a table costs its caller, by the number of
// the signature.
type indirect struct {
	charged, stacked uint32
	tick             bool // it may be an imported function that is followed by one
}

func (g *callGraph) indirect() []indirect {
	most := make([]indirect, len(g.module.signatures))
	for _, index := range g.taken {
		c := &most[g.module.signatures[g.module.Funcs[index]]]
		if index < g.module.imported {
			c.charged = max(c.charged, costImport)
			c.tick = c.tick || g.module.ticks[index]
			continue
		}
		n := &g.funcs[index-g.module.imported]
		c.charged, c.stacked = max(c.charged, n.charged), max(c.stacked, n.stacked)
	}
	return most
}
