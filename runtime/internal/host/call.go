package host

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

// Call is one call of a plugin: the guest, its limits, what goes in and comes
// out, and the services it has used. It belongs to the goroutine that runs the
// guest; host functions find it by their context.
type Call struct {
	Plugin *Plugin
	Export string
	Phase  abi.Phase
	hook   abi.Hook // empty where Export is no hook

	// The guest. Engines set these.
	Guest  Memory // nil until there is an instance
	Engine any    // the engine's own state of the call
	// AskedHost: the guest called a host function that is not WASI's.
	// ChangedFiles: it closed or moved one of its streams. After either its state
	// depends on this call.
	AskedHost, ChangedFiles bool

	// Its limits.
	Memory  Budget
	work    Budget // what the host builds of what the guest wrote
	Usage   Usage
	clock   clock
	traffic traffic

	// What goes in and comes out.
	Input    Input
	answer   answer
	Logs     Logs
	warnings []string
	cause    *abi.Error // why the host stopped the guest; the first one counts

	extism   extism
	services []any // one of each kind; see service
}

// Memory is the linear memory of a guest.
type Memory interface {
	// View returns n bytes, or false where they are not all in the memory. It is
	// valid until the guest runs again.
	View(ptr, n uint32) ([]byte, bool)
	Size() int // in bytes
}

// Usage is what an engine counted in a call.
type Usage struct {
	Fuel          int64
	StackBytes    int64
	TableElements int64
	TablesDenied  bool // a table could not grow
}

// answer is what a guest says.
type answer struct {
	output []byte
	// late, where set, makes the output once the guest has returned.
	late func() []byte
	over bool // the guest wrote more than it may, and was told so
	err  string
}

type callKey struct{}

// CallOf returns the call a host function works for. Nothing calls host
// functions without one.
func CallOf(ctx context.Context) *Call { return ctx.Value(callKey{}).(*Call) }

// NewCall is a call of an export with an input.
func NewCall(p *Plugin, export string, in Input) *Call {
	c := &Call{Plugin: p, Export: export, Phase: abi.PhaseInstantiate, Input: in}
	if h := abi.Hook(export); h.Valid() {
		c.hook = h
	}
	c.Memory.Limit = int64(p.Limits.MemoryMB) << 20
	c.work.Limit = c.Memory.Limit
	c.traffic.limits = &p.Limits
	c.extism.memory.budget, c.extism.texts = &c.Memory, &c.extism.memory
	c.Logs = Logs{left: p.Limits.LogBytes, redact: p.redact}
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

// SetCause says why the guest ends. The first reason counts.
func (c *Call) SetCause(e *abi.Error) { c.cause = cmp.Or(c.cause, e) }

// SetError keeps the error text of the guest.
func (c *Call) SetError(text []byte) { c.answer.err = c.Clean(text) }

// Clean makes foreign text safe to show, and cuts it.
func (c *Call) Clean(text []byte) string {
	return clean(text, c.Plugin.Limits.ErrorBytes, c.Plugin.redact)
}

// maxWarnings is how many warnings a call has: a store that fails does so at each of
// ten thousand host calls.
const maxWarnings = 100

// Warn adds a warning for the host, the first hundred of them.
func (c *Call) Warn(text string) {
	switch n := len(c.warnings); {
	case n < maxWarnings:
		c.warnings = append(c.warnings, strings.TrimSpace(text))
	case n == maxWarnings:
		c.warnings = append(c.warnings, "there are more warnings than these")
	}
}

// view returns a range of guest memory.
func (c *Call) view(name string, ptr, n uint64) []byte {
	b, ok := c.Guest.View(uint32(ptr), uint32(n))
	if !ok {
		c.Stop(
			abi.CodeTrap,
			outside(name, uint64(uint32(n)), uint64(uint32(ptr)), "the guest's memory of %d", c.Guest.Size()), "",
		)
	}
	return b
}

// SetOutput replaces the output, or refuses it where it is over the limit.
func (c *Call) SetOutput(b []byte) {
	c.answer.output = nil
	c.write(b)
}

// write appends to the output, or refuses where that is over the limit.
func (c *Call) write(b []byte) bool {
	c.answer.late = nil
	if len(b) > c.Plugin.Limits.OutputBytes-len(c.answer.output) {
		c.answer.over = true
		return false
	}
	c.answer.output = append(c.answer.output, b...)
	return true
}

// Output is what a guest that has returned answers. It outlives the call.
func (c *Call) Output() []byte {
	if c.answer.late != nil {
		return bytes.Clone(c.answer.late())
	}
	return c.answer.output
}

// Stats is what the call did so far, but for its time.
func (c *Call) Stats() abi.CallStats {
	c.Logs.flush()
	stats := abi.CallStats{
		Limits:          c.Plugin.Limits,
		Fuel:            c.Usage.Fuel,
		StackBytes:      c.Usage.StackBytes,
		TableElements:   c.Usage.TableElements,
		PeakMemoryBytes: max(c.Memory.Peak, c.work.Peak),
		ErrorBytes:      len(c.answer.err),
		LogBytes:        c.Plugin.Limits.LogBytes - c.Logs.left,
		InputBytes:      len(c.Input.Bytes),
		HostCalls:       c.traffic.counts,
		HostCallBytes:   c.traffic.bytes,
		Logs:            c.Logs.lines,
		LogsDropped:     c.Logs.dropped,
		Warnings:        c.warnings,
	}
	for _, s := range c.services {
		if s, ok := s.(reporter); ok {
			s.report(&stats)
		}
	}
	return stats
}
