package sandbox

import (
	"context"
	"fmt"

	"github.com/tetratelabs/wazero/api"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/runtime/internal/host"
	"github.com/kagewasm/kagewasm/runtime/internal/meter"
)

// run is what the engine knows of one call. The guest counts in globals of its
// own, which are the meters of the instance, and calls the host when one of them
// is used up: see package meter.
type run struct {
	call     *host.Call
	instance *instance // nil until there is one, and once it is gone
	counted  counts
	quantums uint // that were handed out
}

// counts is what a guest has used.
type counts struct {
	fuel    int64 // but for what is handed out
	handed  int64 // fuel, to the guest
	deepest int64 // bytes of the stack, at most
	tables  int64 // elements
}

// meters are the globals of an instance that the meter added.
type meters struct {
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
	// lookMask is how many quantums are handed out between two looks at the
	// clock, less one: looking takes longer than handing out.
	lookMask = 3
	// stackStep is how exactly the depth of the stack is known, in bytes.
	stackStep = 64 << 10
	// elementBytes is what an element of a table takes.
	elementBytes = 16
)

// runOf is the run of a host function's call.
func runOf(ctx context.Context) *run { return host.CallOf(ctx).Engine.(*run) }

// arm sets the meters of the instance, which works for the call from now on.
func (r *run) arm() {
	m := &r.instance.meters
	if m.fuel == nil {
		return // there is no code
	}
	r.counted.handed = r.ration()
	m.fuel.Set(uint64(r.counted.handed))
	m.depth.Set(uint64(r.allStack()))
	r.markStack()
}

// allStack is how much of the stack there is before anything runs.
func (r *run) allStack() int64 {
	return int64(r.call.Plugin.Limits.StackBytes) - int64(r.instance.meters.stack)
}

// markStack has the guest tick at the first step of the stack again. What ran before a
// call would leave the mark deeper than it is in an instance that was restored, and how
// deep the stack was is known from the ticks.
func (r *run) markStack() {
	if m := &r.instance.meters; m.mark != nil {
		m.mark.Set(uint64(r.stacked(r.allStack())))
	}
}

// ration is how much fuel the guest is handed next. It is not positive where
// all is used up.
func (r *run) ration() int64 {
	if limit := r.call.Plugin.Limits.Fuel; limit > 0 {
		return min(quantum, limit-r.counted.fuel)
	}
	return quantum
}

// burnt is the fuel that was used so far.
func (r *run) burnt() int64 {
	if r.counted.handed > 0 && r.instance != nil && r.instance.meters.fuel != nil {
		return r.counted.fuel + r.counted.handed - int64(int32(r.instance.meters.fuel.Get()))
	}
	return r.counted.fuel
}

// settle tells the call what was used, before the instance is gone.
func (r *run) settle() {
	u := &r.call.Spent
	u.Fuel, u.StackBytes, u.TableElements = r.burnt(), r.counted.deepest, r.counted.tables
}

// stacked takes down how much of the stack is left, and returns how little of
// it may be left before there is a tick.
func (r *run) stacked(left int64) int64 {
	mark := max(0, left-stackStep)
	r.counted.deepest = max(r.counted.deepest, int64(r.call.Plugin.Limits.StackBytes)-mark)
	return mark
}

// onTick is what the guest calls when a meter is used up: the fuel that it was handed is
// gone, or its stack is. What it used up counts against its limit here.
func onTick(ctx context.Context, stack []uint64) {
	r, value := runOf(ctx), int32(stack[1])
	switch uint32(stack[0]) { // the upper half is undefined
	case meter.ReasonFuel:
		if r.quantums++; r.quantums&lookMask == 0 {
			host.Check(ctx)
		}
		stack[0] = uint64(r.refuel(value))
	case meter.ReasonReturn:
		host.Check(ctx)
		stack[0] = uint64(r.refuel(value))
	case meter.ReasonStack:
		stack[0] = uint64(r.deeper(value))
	case meter.ReasonTable:
		stack[0] = 0
		if r.growTable(int64(uint32(value))) {
			stack[0] = 1
		}
	case meter.ReasonMemory:
		r.call.Memory.Denied = true
	}
}

// refuel stops a guest whose fuel is up, or hands out more.
func (r *run) refuel(left int32) int64 {
	r.counted.fuel += r.counted.handed - int64(left)
	r.counted.handed = 0
	next := r.ration()
	if next <= 0 {
		r.call.Stop(abi.CodeFuel, fmt.Sprintf("it used more than %d units of fuel", r.call.Plugin.Limits.Fuel), host.FuelHint)
	}
	r.counted.handed = next
	return next
}

// deeper stops a guest whose calls nest too deep, or says how deep they may
// nest without a word.
func (r *run) deeper(left int32) int64 {
	if left < 0 {
		r.call.Stop(
			abi.CodeStack, fmt.Sprintf("calls nested too deep: more than %d bytes of stack", r.call.Plugin.Limits.StackBytes),
			host.StackHint,
		)
	}
	return r.stacked(int64(left))
}

// growTable reports whether tables may have n elements more.
func (r *run) growTable(n int64) bool {
	if n > int64(r.call.Plugin.Limits.TableElements)-r.counted.tables {
		r.call.TablesDenied = true
		return false
	}
	if !r.call.Memory.Take(n * elementBytes) {
		return false
	}
	r.counted.tables += n
	return true
}
