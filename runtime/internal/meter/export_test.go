package meter

import "github.com/kagewasm/kagewasm/runtime/internal/wasm"

// Frames are the estimates for all functions of a module.
func Frames(bytes []byte, m *wasm.Module) (frames []uint32, err error) {
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
	for i := range g.funcs {
		frames = append(frames, g.funcs[i].frame)
	}
	return frames, nil
}

// What tests compare with.
var WeightOf = weightOf

const (
	WeightImport   = weightImport
	WeightDispatch = weightDispatch
	BytesShift     = bytesShift
	LongPath       = longPath
)
