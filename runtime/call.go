package runtime

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/runtime/internal/egress"
)

// call is the state of one call of a plugin: what the guest is given, what it
// has done so far, and why it was stopped. It belongs to the goroutine that
// runs the guest; host functions find it in their context.
type call struct {
	plugin *Plugin
	export string
	hook   abi.Hook // empty where export is no hook
	phase  abi.Phase
	limits abi.Limits

	input  []byte     // what the guest reads
	in     *abi.Input // the same with all bodies; nil until it is needed and in a raw call
	parsed bool       // in was looked for
	index  map[string]int

	inst    *instance // nil until there is one
	memory  budget
	gauge   gauge
	arena   arena
	blocks  blocks // the arena, but where an engine has its own
	inputAt uint64 // of the input in the arena; 0 until it is there

	output     []byte
	outputAt   uint64 // of the output in the arena; used where outputIn is set
	outputLen  uint64
	outputIn   bool
	overOutput bool // the guest wrote more than it may, and was told so

	errorText string
	response  []byte
	held      int64 // of the memory, for the response
	vars      map[string][]byte
	logs      logSink
	stdout    lineWriter
	stderr    lineWriter
	kv        overlay
	request   *abi.CompactionRequest

	web         *egress.Session // nil until the first HTTP request
	httpStatus  int             // of the last one over the Extism ABI
	httpHeaders map[string]string
	model       *abi.ModelUsage

	hostCalls map[abi.Op]int
	calls     int
	hostBytes int64
	warnings  []string
	told      bool // that its name is another module's
	ticks     int  // since the clock was looked at
	rations   uint
	// askedHost: the guest called a host function that is not WASI's.
	askedHost bool
	// changedFiles: the guest closed or moved one of its streams.
	changedFiles bool
	// cause is why the host stopped the guest. The first one counts.
	cause *abi.Error
}

type callKey struct{}

// callOf returns the call a host function works for. Nothing calls host
// functions without one.
func callOf(ctx context.Context) *call { return ctx.Value(callKey{}).(*call) }

func newCall(p *Plugin, export string, input []byte) *call {
	c := &call{plugin: p, export: export, phase: abi.PhaseInstantiate, limits: p.limits, input: input}
	if h := abi.Hook(export); h.Valid() {
		c.hook = h
	}
	c.memory.limit = int64(p.limits.MemoryMB) << 20
	c.arena.budget, c.blocks = &c.memory, &c.arena
	c.logs = logSink{left: p.limits.LogBytes, redact: p.redact}
	c.stdout = lineWriter{sink: &c.logs, level: abi.LogInfo}
	c.stderr = lineWriter{sink: &c.logs, level: abi.LogWarn}
	return c
}

// errStopped unwinds a guest that the host stops. The engine turns panics of
// host functions into errors of the call, and knows no other way; the cause is
// in the call, this says only that there is one.
var errStopped = errors.New("stopped by the host")

// stop ends the guest for the given reason. It does not return.
func (c *call) stop(code abi.Code, message, hint string) {
	if c.cause == nil {
		c.cause = c.error(code, message)
		c.cause.Hint = hint
	}
	panic(errStopped)
}

const (
	// maxTicks is how many cheap host functions run between two looks at the
	// clock.
	maxTicks = 256
	// tickBytes is how many bytes take as long as a cheap host function.
	tickBytes = 4 << 10
)

// tick stops a guest whose time is up and which stays in host functions.
func (c *call) tick(ctx context.Context) { c.moved(ctx, 0) }

// moved is tick for host functions that copy, clear or read n bytes.
func (c *call) moved(ctx context.Context, n int) {
	if c.ticks += 1 + n/tickBytes; c.ticks >= maxTicks {
		c.ticks = 0
		c.check(ctx)
	}
}

// check is tick for host functions that are not cheap.
func (c *call) check(ctx context.Context) {
	if ctx.Err() != nil {
		panic(errStopped) // the context says why
	}
}

// setError keeps the error text of the guest.
func (c *call) setError(text []byte) {
	c.errorText = clean(text, c.limits.ErrorBytes, c.plugin.redact)
}

// error is an error of this call.
func (c *call) error(code abi.Code, message string) *abi.Error {
	return &abi.Error{Code: code, Op: "call", Plugin: c.plugin.manifest.Name, Hook: c.hook, Phase: c.phase, Message: message}
}

// stats is what the call did so far, but for its time.
func (c *call) stats() abi.CallStats {
	c.stdout.flush()
	c.stderr.flush()
	var web egress.Usage
	if c.web != nil {
		web = c.web.Used()
	}
	return abi.CallStats{
		Limits:          c.limits,
		Fuel:            c.burnt(),
		StackBytes:      c.gauge.deepest,
		TableElements:   c.gauge.tables,
		PeakMemoryBytes: c.memory.peak,
		ErrorBytes:      len(c.errorText),
		LogBytes:        c.limits.LogBytes - c.logs.left,
		InputBytes:      len(c.input),
		HostCalls:       c.hostCalls,
		HostCallBytes:   c.hostBytes,
		HTTPRequests:    web.Requests,
		HTTPBytes:       web.Bytes,
		Model:           c.model,
		Logs:            c.logs.lines,
		LogsDropped:     c.logs.dropped,
		Warnings:        c.warnings,
	}
}

// result is the output of a guest that has returned. It outlives the call.
func (c *call) result() []byte {
	if c.outputIn {
		b, _ := c.arena.view(c.outputAt, c.outputLen)
		return bytes.Clone(b)
	}
	return c.output
}

func (c *call) warn(text string) { c.warnings = append(c.warnings, strings.TrimSpace(text)) }
