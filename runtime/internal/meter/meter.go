package meter

import (
	"fmt"

	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// What a rewritten module imports and exports beside its own. Nothing of a
// guest's may have these names.
const (
	// Module and Tick name the imported function (reason, value i32) -> i32
	// that the guest calls for one of the reasons.
	Module = "kagewasm:meter"
	Tick   = "tick"
	// Prefix is what the names of added exports begin with.
	Prefix = "kagewasm."
	// The added globals, mutable i32: the fuel that is left, negative where
	// more is used, the bytes of the stack that are left, and how few may be
	// left without a tick. The host sets them before a call.
	Fuel  = Prefix + "fuel"
	Depth = Prefix + "depth"
	Mark  = Prefix + "mark"
	// Whole is an added function () -> i32 that returns 1, and 0 in a module
	// that [Hollow] made.
	Whole = Prefix + "whole"
)

// Options say how a module is rewritten. The zero value is the strictest.
type Options struct {
	// TickAfter reports whether a tick follows each call of an imported
	// function. Nil: always. A host that looks at the clock in a function of
	// its own can do without.
	TickAfter func(module, name string) bool
}

// Info is what the rewriter found out.
type Info struct {
	// Stack is the most that a call of a function from outside takes of the
	// stack before anything counts, in bytes.
	Stack uint32
	// Segments: the code looks at segments after they were applied, or changes
	// a table. What an instance is then is more than its memory and globals.
	Segments bool
}

// Rewrite returns a module that does the same and can be stopped. m is what
// [wasm.Parse] says of the bytes; the result shares nothing with them. It takes
// time and memory in proportion to the length of the module. The error is a
// *wasm.FormError.
func Rewrite(bytes []byte, m *wasm.Module, o Options) ([]byte, *Info, error) {
	v, err := newView(bytes, m, o)
	if err != nil {
		return nil, nil, refused(err)
	}
	g := &graph{view: v, funcs: make([]node, len(m.Bodies))}
	f := &flow{module: v}
	if err := g.scan(f); err != nil {
		return nil, nil, refused(err)
	}
	p := &paths{flow: f, graph: g}
	if err := g.walk(p.analyse); err != nil {
		return nil, nil, refused(err)
	}
	for i := range v.Types {
		g.compile += passing(v.width(uint32(i))) // a way in from outside, for each
	}
	if err := mayCompile(len(bytes), g.compile, g.longest, g.worst); err != nil {
		return nil, nil, refused(err)
	}
	w := newWriter(v, g)
	info := &Info{Stack: g.deepest(), Segments: g.segments}
	return w.module(), info, nil
}

func refused(err error) error {
	return &wasm.FormError{Message: err.Error(), Hint: "build the plugin again, for WebAssembly 2.0 without further proposals, and with smaller functions"}
}

// inFunction says which function an error is about.
type inFunction struct {
	index uint32
	err   error
}

func (e *inFunction) Error() string { return fmt.Sprintf("function %d: %v", e.index, e.err) }
func (e *inFunction) Unwrap() error { return e.err }

// analyse finds the edits of a function, and what a call of it costs.
func (p *paths) analyse(index uint32) error {
	if err := p.read(int(index)); err != nil {
		return &inFunction{index + p.module.imported, err}
	}
	n := &p.graph.funcs[index]
	n.charged = p.run()
	p.frame.estimate(p.flow, int(index), p.edits)
	took := p.compileTime(int(index), p.edits, p.frame.live(), p.frame.borders)
	if p.graph.compile += took; took > p.graph.longest {
		p.graph.longest, p.graph.worst = took, index+p.module.imported
	}
	n.frame = p.frame.bytes()
	n.stacked = n.frame
	deepest := uint32(0)
	for i := range p.edits {
		if e := &p.edits[i]; e.kind == editCall && e.op == wasm.OpCall {
			deepest = max(deepest, p.graph.funcs[e.a-p.module.imported].stacked)
		}
	}
	n.stacked = min(n.stacked+deepest, maxFrame)
	n.edits = append(make([]edit, 0, len(p.edits)), p.edits...)
	n.done = true
	return nil
}

// deepest is what the functions that can be called from outside take of the
// stack.
func (g *graph) deepest() uint32 {
	most := uint32(0)
	for i := range g.funcs {
		most = max(most, g.funcs[i].stacked)
	}
	return most
}
