package meter

import "github.com/kagewasm/kagewasm/runtime/internal/wasm"

// Frames are the estimates for all functions of a module.
func Frames(bytes []byte, parsed *wasm.Module) (frames []uint32, err error) {
	m, err := newModule(bytes, parsed, Options{})
	if err != nil {
		return nil, err
	}
	g, err := analyse(m)
	if err != nil {
		return nil, err
	}
	for i := range g.funcs {
		frames = append(frames, g.funcs[i].frame)
	}
	return frames, nil
}

// What tests compare with.
var CostOf = costOf

const (
	CostImport   = costImport
	CostDispatch = costDispatch
	BytesShift   = bytesShift
	LongPath     = longPath
)
