package sandbox

import (
	"context"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/kagewasm/kagewasm/runtime/internal/host"
	"github.com/kagewasm/kagewasm/runtime/internal/meter"
)

// instance is one instance of a guest, with all that is its own. It belongs to
// no call until bind, works for that one, and is closed after it.
type instance struct {
	module api.Module
	memory *linear
	others []*linear // of further modules that the engine made for it
	slots  *slots    // for memory
	budget *host.Budget
	wasi   *host.WASI // nil without WASI
	meters meters
	// before is what the guest did before the call came, as far as the call
	// has to show it. Nil where the call was there.
	before *snapshot
	export string       // of ready
	ready  api.Function // made ahead; nil where it is not
	stack  [2]uint64    // of the call

	size int64  // what it counts in the idle cache
	made uint64 // orders instances by age
}

// Allocate implements experimental.MemoryAllocator: the memory made last is
// the guest's.
func (i *instance) Allocate(_, most uint64) experimental.LinearMemory {
	if i.memory != nil {
		i.others = append(i.others, i.memory)
	}
	i.memory = &linear{budget: i.budget, slots: i.slots, most: most}
	return i.memory
}

// View implements [host.Memory].
func (i *instance) View(ptr, n uint32) ([]byte, bool) { return i.memory.view(ptr, n) }

// Size implements [host.Memory].
func (i *instance) Size() int { return i.memory.size() }

// bind makes the instance work for a call: its memory counts as the call's,
// and what it writes goes to the log of the call.
func (r *run) bind(i *instance) {
	r.instance = i
	if i.budget != nil {
		r.call.Memory = *i.budget
	}
	if i.budget = &r.call.Memory; i.memory != nil {
		i.memory.budget = i.budget
	}
	r.call.Linear = i
	if i.wasi != nil {
		i.wasi.Bind(r.call)
	}
	if s := i.before; s != nil { // the call shows what the guest did before it
		r.counted, r.call.Logs = s.counted, s.logs.Clone()
	}
	r.arm()
}

// prepare makes the function of an export ahead.
func (i *instance) prepare(export string) {
	i.export, i.ready = export, i.module.ExportedFunction(export)
}

// call calls an export, which is there.
func (i *instance) call(ctx context.Context, export string) (uint32, error) {
	if i.export != export || i.ready == nil {
		i.prepare(export)
	}
	i.stack = [2]uint64{}
	err := i.ready.CallWithStack(ctx, i.stack[:])
	return uint32(i.stack[0]), err
}

// close ends the instance and gives its memory back.
func (i *instance) close() {
	if i.module != nil {
		_ = i.module.Close(context.Background())
	}
	for _, m := range append(i.others, i.memory) {
		m.release()
	}
	i.memory, i.others = nil, nil
}

// instantiate makes the instance. Where the module is detached, no code of the
// guest runs here.
func (n *code) instantiate(ctx context.Context, i *instance) (err error) {
	config := n.config
	if i.wasi != nil {
		config = i.wasi.Config(config)
	}
	i.module, err = n.runtime.InstantiateModule(experimental.WithMemoryAllocator(ctx, i), n.module, config)
	if err != nil {
		return err
	}
	global := func(name string) api.MutableGlobal {
		g, _ := i.module.ExportedGlobal(name).(api.MutableGlobal)
		return g
	}
	i.meters = meters{global(meter.Fuel), global(meter.Depth), global(meter.Mark), n.stack}
	return nil
}

// start makes an instance for a call and runs all the code the module has for
// that.
func (n *code) start(ctx context.Context, r *run) error {
	i := &instance{slots: n.slots}
	if n.wasi {
		i.wasi = host.NewWASI()
	}
	r.bind(i)
	if !r.growTable(n.elements) {
		return host.ErrStopped
	}
	if err := n.instantiate(ctx, i); err != nil {
		return err
	}
	if i.memory.size() > hugeFrom {
		host.WrittenSoon(i.memory.slot.space, 0, i.memory.size())
	}
	r.arm()
	if n.init != nil {
		if err := n.init.run(ctx, r); err != nil {
			return err
		}
	}
	if selfStarting(r.call.Export) {
		return nil
	}
	for _, init := range n.inits {
		i.stack = [2]uint64{}
		if err := i.module.ExportedFunction(init).CallWithStack(ctx, i.stack[:]); err != nil {
			return err
		}
	}
	r.markStack()
	return nil
}

// selfStarting reports whether an export is one of those that begin by
// themselves.
func selfStarting(export string) bool { return export == host.StartExport || export == host.InitExport }
