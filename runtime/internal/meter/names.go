package meter

import (
	"strings"

	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

const (
	nameSection   = "name"
	functionNames = 1 // the id of the names of functions in it
)

// names is a name section with the names of functions out of another, for their
// new indices, so that stack traces stay readable. It is nothing where there
// are none, or where they are malformed. Long ones are cut: a stack trace
// repeats them.
func (w *writer) names(content []byte) []byte {
	r := &wasm.Reader{Data: content}
	for !r.Done() {
		id := r.Byte()
		names := r.Bytes(r.U32())
		if r.Err != nil {
			return nil
		}
		if id == functionNames {
			return w.functionNames(names)
		}
	}
	return nil
}

func (w *writer) functionNames(list []byte) []byte {
	var entries []byte
	n := uint32(0)
	add := func(index uint32, name string) {
		entries = wasm.AppendName(wasm.AppendU32(entries, index), name)
		n++
	}
	r := &wasm.Reader{Data: list}
	added, last := false, int64(-1)
	r.VectorUpTo(wasm.MaxFuncs+wasm.MaxImports, func() {
		index, name := r.U32(), r.Name()
		if r.Err != nil || int64(index) <= last || int(index) >= len(w.view.types) {
			r.Fail(wasm.ErrTruncated)
			return
		}
		last = int64(index)
		if len(name) > wasm.MaxNameBytes {
			name = strings.ToValidUTF8(name[:wasm.MaxNameBytes], "")
		}
		if index >= w.view.imported && !added {
			add(w.tick, Prefix+Tick)
			added = true
		}
		add(w.function(index), name)
	})
	if r.Err != nil || !r.Done() || n == 0 {
		return nil
	}
	if !added {
		add(w.tick, Prefix+Tick)
	}
	add(w.slow, Prefix+"checkpoint")
	add(w.pause, Prefix+"pause")
	add(w.whole, Whole)
	for i := range w.helpers.list {
		add(w.helpers.first+uint32(i), Prefix+"range")
	}
	entries = append(wasm.AppendU32(nil, n), entries...)
	body := wasm.AppendName(nil, nameSection)
	body = append(wasm.AppendU32(append(body, functionNames), uint32(len(entries))), entries...)
	return wasm.AppendSection(nil, wasm.SectionCustom, body)
}
