package meter

import "github.com/kagewasm/kagewasm/runtime/internal/wasm"

// Frames are the estimates for all functions of a module.
func Frames(bytes []byte, m *wasm.Module) ([]uint32, error) {
	v, err := newView(bytes, m, Options{})
	if err != nil {
		return nil, err
	}
	f := &flow{module: v}
	var all []uint32
	for i := range m.Bodies {
		if err := f.read(i); err != nil {
			return nil, err
		}
		all = append(all, f.frame.size())
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
