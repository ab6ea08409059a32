package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/kagewasm/kagewasm/runtime/internal/host"
	"github.com/kagewasm/kagewasm/runtime/internal/meter"
	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// initState is what the host does in place of the engine to bring an instance of a
// detached module to life.
type initState struct {
	data    segments
	start   bool     // there is an export reservedStart, which runs first
	globals []string // the exports of the mutable globals
	// restorable: the state of an instance can be put into another one. Else
	// the data stays in the module, and only the start is the host's.
	restorable bool
}

// canRestore reports whether instances can be restored.
func (b *initState) canRestore() bool { return b != nil && b.restorable }

// segments are what a module puts into its memory: the bytes, one segment behind the other, and where each goes.
type segments struct {
	bytes  []byte
	places []placed
}

type placed struct{ at, size uint32 }

// The names of exports that are the host's begin with reservedPrefix.
const (
	reservedPrefix = meter.Prefix
	reservedStart  = reservedPrefix + "start"
	reservedGlobal = reservedPrefix + "global."
	maxReserved    = 32 // bytes of an export with such a name
)

// detach rewrites a module so that making an instance of it runs no code: the
// host calls the start section, an export then, when the counters of the meter
// are set. Where that makes it restorable, data segments are taken out and all
// mutable globals are exported as well, so that the host can read and set all of
// an instance's state. The host does the rest as initState says, or puts a copy of
// the state of another instance in its place.
//
// It works on whole sections and knows nothing of code: segments says whether
// code looks at what changes here; see meter.Info. The error is that there is
// nothing to call.
func detach(bin []byte, segments bool) ([]byte, *initState, error) {
	m, err := wasm.Parse(bin)
	if err != nil {
		return nil, nil, err
	}
	if len(m.Exports) == 0 || len(m.Bodies) == 0 {
		return nil, nil, errors.New("nothing to call")
	}
	b, added := describeInit(m, segments)
	out := append(make([]byte, 0, len(bin)+len(added)*maxReserved), bin[:wasm.HeaderBytes]...)
	for _, s := range m.Sections {
		switch {
		case s.ID == wasm.SectionExport:
			content := wasm.AppendU32(nil, uint32(len(m.Exports)+len(added)))
			r := &wasm.Reader{Data: bin[:s.Stop], Pos: s.Body}
			r.U32()
			content = append(content, bin[r.Pos:s.Stop]...)
			out = wasm.AppendSection(out, s.ID, append(content, bytes.Join(added, nil)...))
		case s.ID == wasm.SectionStart:
		case b.restorable && (s.ID == wasm.SectionData || s.ID == wasm.SectionDataCount):
		default:
			out = append(out, bin[s.Start:s.Stop]...)
		}
	}
	return out, b, nil
}

// describeInit says what detach takes out. added are the exports it adds.
func describeInit(m *wasm.Module, segments bool) (b *initState, added [][]byte) {
	b = new(initState)
	export := func(name string, kind byte, index uint32) {
		added = append(added, wasm.AppendU32(append(wasm.AppendName(nil, name), kind), index))
	}
	if m.Start != nil {
		b.start = true
		export(reservedStart, wasm.KindFunc, *m.Start)
	}
	data, err := segmentsOf(m)
	if segments || err != nil || slices.ContainsFunc(m.Globals, unsettable) {
		return b, added
	}
	b.data, b.restorable = data, true
	for i, g := range m.Globals { // none is imported
		if g.Mutable {
			b.globals = append(b.globals, reservedGlobal+strconv.Itoa(i))
			export(b.globals[len(b.globals)-1], wasm.KindGlobal, uint32(i))
		}
	}
	return b, added
}

// unsettable reports whether a global can change and is no number, which the
// host cannot set.
func unsettable(g wasm.GlobalType) bool {
	return g.Mutable && g.Type != wasm.I32 && g.Type != wasm.I64 && g.Type != wasm.F32 && g.Type != wasm.F64
}

// segmentsOf are the data that a module puts into its memory. The rest of the module is not kept for them.
func segmentsOf(m *wasm.Module) (data segments, err error) {
	n, size := m.DataSize()
	data = segments{make([]byte, 0, size), make([]placed, 0, n)}
	for d := range m.Data() {
		switch {
		case !d.Active:
		case d.Offset.Op != wasm.OpI32Const:
			return segments{}, errors.New("the offset of a data segment is no constant")
		default:
			data.bytes = append(data.bytes, d.Bytes...)
			data.places = append(data.places, placed{uint32(d.Offset.Value), uint32(len(d.Bytes))})
		}
	}
	return data, nil
}

// run does what the engine would have done by itself: it fills the memory and
// runs the start section.
func (b *initState) run(ctx context.Context, r *run) error {
	i, rest := r.instance, b.data.bytes
	for _, s := range b.data.places {
		into, ok := i.View(s.at, s.size)
		if !ok {
			r.call.SetCause(r.call.Trap(fmt.Sprintf(
				"%d bytes of data at %d are not all inside the guest's memory of %d", s.size, s.at, i.Size()), nil))
			return host.ErrStopped
		}
		copy(into, rest)
		rest = rest[s.size:]
	}
	if !b.start {
		return nil
	}
	return i.module.ExportedFunction(reservedStart).CallWithStack(ctx, nil)
}
