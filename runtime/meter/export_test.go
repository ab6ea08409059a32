package meter

import "github.com/kagewasm/kagewasm/runtime/internal/wasm"

// Frames are the estimates for all functions of a module.
func Frames(bytes []byte, m *wasm.Module) ([]uint32, error) {
	v, err := newView(bytes, m, Options{})
	if err != nil {
		return nil, err
	}
	g := &graph{view: v, funcs: make([]node, len(m.Bodies))}
	f := &flow{module: v}
	if err := g.scan(f); err != nil {
		return nil, err
	}
	if err := g.walk((&paths{flow: f, graph: g}).analyse); err != nil {
		return nil, err
	}
	var all []uint32
	for i := range g.funcs {
		all = append(all, g.funcs[i].frame)
	}
	return all, nil
}

// What tests compare with.
var WeightOf = weightOf

const (
	WeightImport   = weightImport
	WeightDispatch = weightDispatch
	BytesShift     = bytesShift
	LongPath       = longPath
)
