package meter

import "github.com/kagewasm/kagewasm/runtime/internal/wasm"

// Frames are the estimates for all functions of a module, and those for
// functions that are too hard.
func Frames(bytes []byte, m *wasm.Module) (frames, crude []uint32, err error) {
	v, err := newView(bytes, m, Options{})
	if err != nil {
		return nil, nil, err
	}
	g := &graph{view: v, funcs: make([]node, len(m.Bodies))}
	f := &flow{module: v}
	if err := g.scan(f); err != nil {
		return nil, nil, err
	}
	if err := g.walk((&paths{flow: f, graph: g}).analyse); err != nil {
		return nil, nil, err
	}
	for i := range g.funcs {
		frames = append(frames, g.funcs[i].frame)
		if err := f.read(i); err != nil {
			return nil, nil, err
		}
		bytes, _ := f.crude()
		crude = append(crude, f.frame.size(bytes, true))
	}
	return frames, crude, nil
}

// What tests compare with.
var WeightOf = weightOf

const (
	WeightImport   = weightImport
	WeightDispatch = weightDispatch
	BytesShift     = bytesShift
	LongPath       = longPath
)
