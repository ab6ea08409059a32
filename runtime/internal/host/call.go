package host

import (
	"context"
	"errors"

	"github.com/kagewasm/kagewasm/abi"
)

// Call is one call of a plugin. It belongs to the goroutine that runs the guest;
// host functions find it by their context. Each part of it is a type with a state of
// its own.
type Call struct {
	Plugin *Plugin
	Export string
	Phase  abi.Phase

	Guest            // the instance, which the engine makes
	Spent            // what it may take, and what it took
	IO               // what goes in and comes out
	traffic  traffic // host calls
	extism   extism  // the Extism ABI
	services services
}

type callKey struct{}

// CallOf returns the call a host function works for. Nothing calls host
// functions without one.
func CallOf(ctx context.Context) *Call { return ctx.Value(callKey{}).(*Call) }

// NewCall is a call of an export with an input.
func NewCall(p *Plugin, export string, in Input) *Call {
	c := &Call{
		Plugin: p, Export: export, Phase: abi.PhaseInstantiate, Spent: newSpent(&p.Limits), IO: newIO(p, in),
		traffic: traffic{limits: &p.Limits},
	}
	c.extism.memory.budget, c.extism.texts = &c.Memory, &c.extism.memory
	return c
}

// ErrStopped unwinds a guest that the host stops. The engine turns panics of
// host functions into errors of the call, and knows no other way; the cause is
// in the call, this says only that there is one.
var ErrStopped = errors.New("stopped by the host")

// Stop ends the guest for the given reason. It does not return.
func (c *Call) Stop(code abi.Code, message, hint string) {
	c.SetCause(c.error(code, message, hint, nil))
	panic(ErrStopped)
}

// view returns a range of guest memory.
func (c *Call) view(name string, ptr, n uint64) []byte {
	b, ok := c.Linear.View(uint32(ptr), uint32(n))
	if !ok {
		c.Stop(
			abi.CodeTrap,
			outside(name, uint64(uint32(n)), uint64(uint32(ptr)), "the guest's memory of %d", c.Linear.Size()), "",
		)
	}
	return b
}

// Stats is what the call did so far, but for its time.
func (c *Call) Stats() abi.CallStats {
	stats := abi.CallStats{Limits: c.Plugin.Limits}
	for _, part := range []reporter{&c.Spent, &c.IO, &c.traffic, c.services} {
		part.report(&stats)
	}
	return stats
}

// reporter is a part of a call, or a service it used, that has something to say of it.
type reporter interface{ report(*abi.CallStats) }
