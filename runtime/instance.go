package runtime

import (
	"context"
	"fmt"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/runtime/internal/meter"
)

// instance is one instance of a guest, with all that is its own. It belongs to
// no call until bind, works for that one, and is closed after it.
type instance struct {
	module api.Module
	memory *linear
	others []*linear // of further modules that the engine made for it
	rooms  *rooms    // for memory
	budget *budget   // its own, then the call's
	world  *world    // nil without WASI
	dials  dials
	// before is what the guest did before the call came, as far as the call
	// has to show it. Nil where the call was there.
	before *snapshot
	export string       // of ready
	ready  api.Function // made ahead; nil where it is not
	stack  [2]uint64    // of the call

	size int64  // what it counts in the reserve
	made uint64 // orders instances by age
}

// Allocate implements experimental.MemoryAllocator: the memory made last is
// the guest's.
func (i *instance) Allocate(_, most uint64) experimental.LinearMemory {
	if i.memory != nil {
		i.others = append(i.others, i.memory)
	}
	i.memory = &linear{budget: i.budget, rooms: i.rooms, most: most}
	return i.memory
}

// bind makes the instance work for a call: its memory counts as the call's,
// and what it writes goes to the log of the call.
func (i *instance) bind(c *call) {
	c.inst = i
	if i.budget != nil {
		c.memory = *i.budget
	}
	if i.budget = &c.memory; i.memory != nil {
		i.memory.budget = i.budget
	}
	if i.world != nil {
		i.world.bind(c)
	}
	if i.before != nil {
		i.before.replay(c)
	}
	c.arm(&i.dials)
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
func (n *native) instantiate(ctx context.Context, i *instance) (err error) {
	config := n.config
	if i.world != nil {
		config = i.world.config(config)
	}
	i.module, err = n.runtime.InstantiateModule(experimental.WithMemoryAllocator(ctx, i), n.code, config)
	if err != nil {
		return err
	}
	dial := func(name string) api.MutableGlobal {
		g, _ := i.module.ExportedGlobal(name).(api.MutableGlobal)
		return g
	}
	i.dials = dials{dial(meter.Fuel), dial(meter.Depth), dial(meter.Mark), n.stack}
	return nil
}

// start makes an instance for a call and runs all the code the module has for
// that.
func (n *native) start(ctx context.Context, c *call) error {
	i := &instance{rooms: n.rooms}
	if n.wasi {
		i.world = newWorld()
	}
	i.bind(c)
	if !c.growTable(n.elements) {
		return errStopped
	}
	if err := n.instantiate(ctx, i); err != nil {
		return err
	}
	c.arm(&i.dials)
	if n.boot != nil {
		if err := n.boot.run(ctx, c); err != nil {
			return err
		}
	}
	if selfStarting(c.export) {
		return nil
	}
	for _, init := range n.inits {
		i.stack = [2]uint64{}
		if err := i.module.ExportedFunction(init.name).CallWithStack(ctx, i.stack[:]); err != nil {
			return err
		}
	}
	return nil
}

// selfStarting reports whether an export is one of those that begin by
// themselves.
func selfStarting(export string) bool { return export == startExport || export == initExport }

// run does what the engine would have done by itself: it fills the memory and
// runs the start section.
func (b *boot) run(ctx context.Context, c *call) error {
	for _, s := range b.data {
		into, ok := c.inst.memory.view(s.at, uint32(len(s.bytes)))
		if !ok {
			c.cause = c.error(abi.CodeTrap, fmt.Sprintf("%d bytes of data at %d are not all inside the guest's memory of %d", len(s.bytes), s.at, c.inst.memory.size()))
			return errStopped
		}
		copy(into, s.bytes)
	}
	if !b.start {
		return nil
	}
	return c.inst.module.ExportedFunction(reservedStart).CallWithStack(ctx, nil)
}
