package runtime

import (
	"context"
	"fmt"

	"github.com/tetratelabs/wazero/api"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/runtime/internal/meter"
)

// gauge is the fuel, the stack and the tables of one call. The guest counts in
// globals of its own, which are dials of the instance, and calls the host when
// one of them is used up: see package meter.
type gauge struct {
	used    int64 // fuel, but for what is handed out
	handed  int64 // out to the guest
	deepest int64 // bytes of the stack, at most
	tables  int64 // elements
	refused bool  // a table could not grow
}

// dials are the globals of an instance that the meter added.
type dials struct {
	fuel, depth, mark api.MutableGlobal
	stack             uint32 // of a call before anything counts
}

const (
	// quantum is how much fuel the guest is handed at a time: microseconds of
	// usual code, and some milliseconds of the slowest there is, which has the
	// kernel find a page of memory at each of 5,000 stores. Between two of these
	// nothing else can stop the guest, nor the collector of garbage stop the
	// world.
	quantum = 30_000
	// rationMask is how many quantums are handed out between two looks at the
	// clock, less one: looking takes longer than handing out.
	rationMask = 3
	// stackStep is how exactly the depth of the stack is known.
	stackStep = 64 << 10
	// elementBytes is what an element of a table takes.
	elementBytes = 16
)

// arm sets the dials of an instance that is to work for the call from now on.
func (c *call) arm(d *dials) {
	if d.fuel == nil {
		return // there is no code
	}
	g := &c.gauge
	g.handed = c.ration()
	depth := int64(c.limits.StackBytes) - int64(d.stack)
	d.fuel.Set(uint64(g.handed))
	d.depth.Set(uint64(depth))
	d.mark.Set(uint64(c.stacked(depth)))
}

// ration is how much fuel the guest is handed next. It is not positive where
// all is used up.
func (c *call) ration() int64 {
	if c.limits.Fuel == 0 {
		return quantum
	}
	return min(quantum, c.limits.Fuel-c.gauge.used)
}

// burnt is the fuel that was used so far.
func (c *call) burnt() int64 {
	g := &c.gauge
	if g.handed > 0 && c.inst != nil && c.inst.dials.fuel != nil {
		return g.used + g.handed - int64(int32(c.inst.dials.fuel.Get()))
	}
	return g.used
}

// settle takes down the fuel that was used, before the instance is gone.
func (c *call) settle() { c.gauge.used, c.gauge.handed = c.burnt(), 0 }

// stacked takes down how much of the stack is left, and returns how little of
// it may be left before there is a tick.
func (c *call) stacked(left int64) int64 {
	mark := max(0, left-stackStep)
	c.gauge.deepest = max(c.gauge.deepest, int64(c.limits.StackBytes)-mark)
	return mark
}

// onTick is what the guest calls: see the reasons of package meter.
func onTick(ctx context.Context, stack []uint64) {
	c, value := callOf(ctx), int32(stack[1])
	switch uint32(stack[0]) { // the upper half is undefined
	case meter.ReasonFuel:
		if c.rations++; c.rations&rationMask == 0 {
			c.check(ctx)
		}
		stack[0] = uint64(c.refuel(value))
	case meter.ReasonReturn:
		c.check(ctx)
		stack[0] = uint64(c.refuel(value))
	case meter.ReasonStack:
		stack[0] = uint64(c.deeper(value))
	case meter.ReasonTable:
		stack[0] = 0
		if c.growTable(int64(uint32(value))) {
			stack[0] = 1
		}
	case meter.ReasonMemory:
		c.memory.denied = true
	}
}

// refuel stops a guest whose fuel is up, or hands out more.
func (c *call) refuel(left int32) int64 {
	g := &c.gauge
	g.used += g.handed - int64(left)
	g.handed = 0
	next := c.ration()
	if next <= 0 {
		c.stop(abi.CodeFuel, fmt.Sprintf("it used more than %d units of fuel", c.limits.Fuel), fuelHint)
	}
	g.handed = next
	return next
}

// deeper stops a guest whose calls nest too deep, or says how deep they may
// nest without a word.
func (c *call) deeper(left int32) int64 {
	if left < 0 {
		c.stop(abi.CodeStack, fmt.Sprintf("calls nested too deep: more than %d bytes of stack", c.limits.StackBytes), stackHint)
	}
	return c.stacked(int64(left))
}

// growTable reports whether tables may have n elements more.
func (c *call) growTable(n int64) bool {
	g := &c.gauge
	if n > int64(c.limits.TableElements)-g.tables {
		g.refused = true
		return false
	}
	if !c.memory.take(n * elementBytes) {
		return false
	}
	g.tables += n
	return true
}
