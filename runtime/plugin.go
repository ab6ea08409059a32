package runtime

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/runtime/internal/egress"
	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// Plugin is a loaded module. It is safe for concurrent use: every call runs in
// an instance of its own.
type Plugin struct {
	runtime  *Runtime
	manifest *abi.Manifest
	source   string // of the manifest
	digest   string
	size     int
	limits   abi.Limits
	grants   Grants
	config   abi.Config
	module   *wasm.Module
	hooks    []abi.Hook
	redact   *strings.Replacer
	web      *egress.Client
	tape     Tape // nil where calls are what they are
	engine   engine
	name     string // of the engine
	// wantsInputOffset: the module imports input_offset, so the input has to
	// be in the arena.
	wantsInputOffset bool
	adopt            bool   // the name's data is this module's too
	lineKnown        string // once it is; see namespace.go

	mu     sync.Mutex
	calls  int           // running
	closed bool          // no new ones
	done   chan struct{} // closed once the engine is
	err    error         // of closing it
}

// Manifest is what the plugin says about itself. Where it says nothing, it is
// an observer of the hooks it exports. The caller must not change it.
func (p *Plugin) Manifest() *abi.Manifest { return p.manifest }

// Digest is "sha256:" and the hex digest of the module's bytes.
func (p *Plugin) Digest() string { return p.digest }

// Limits are the limits of each call.
func (p *Plugin) Limits() abi.Limits { return p.limits }

// Hooks are the hooks the plugin takes part in, in the order of a turn.
func (p *Plugin) Hooks() []abi.Hook { return slices.Clone(p.hooks) }

// Granted reports whether the plugin has a capability: it asks for it, and the
// operator grants it.
func (p *Plugin) Granted(c abi.Capability) bool { return p.asks(c) && p.grants.Allows(c) }

func (p *Plugin) asks(c abi.Capability) bool {
	_, ok := p.manifest.Capabilities[c]
	return ok
}

// Call runs the hook in.Hook and returns what it answered: nil where it has
// nothing to say. ABI and Config of the input are filled in; in itself is not
// changed. The error is an *abi.Error, and then there is no output; the stats
// are those of the call, whether it failed or not.
func (p *Plugin) Call(ctx context.Context, in *abi.Input) (*abi.Output, abi.CallStats, error) {
	c, raw, stats, err := p.callHook(ctx, in)
	if err != nil {
		return nil, stats, err
	}
	start := time.Now()
	out, warnings, err := decodeOutput(raw)
	stats.MS = math.Round((stats.MS+millis(start))*1000) / 1000
	stats.Warnings = append(stats.Warnings, warnings...)
	if err != nil {
		c.phase = abi.PhaseOutput
		return nil, stats, c.with(c.error(abi.CodeBadOutput, clean([]byte(err.Error()), c.limits.ErrorBytes, p.redact)), "answer with null or an object as in the abi", err)
	}
	if out != nil && len(out.Retain) > 0 {
		stats.Warnings = append(stats.Warnings, c.tellNamespace(ctx)...)
	}
	if c.request != nil {
		if out == nil {
			out = new(abi.Output)
		}
		if out.RequestCompaction == nil {
			out.RequestCompaction = c.request
		}
	}
	return out, stats, nil
}

// CallHook is [Plugin.Call] with the answer as the plugin wrote it, whatever it
// is.
func (p *Plugin) CallHook(ctx context.Context, in *abi.Input) ([]byte, abi.CallStats, error) {
	_, raw, stats, err := p.callHook(ctx, in)
	return raw, stats, err
}

func (p *Plugin) callHook(ctx context.Context, in *abi.Input) (*call, []byte, abi.CallStats, error) {
	if !slices.Contains(p.hooks, in.Hook) {
		return nil, nil, abi.CallStats{}, p.usage(in.Hook, fmt.Sprintf("the plugin has no hook %q: it has %s", in.Hook, joinHooks(p.hooks)))
	}
	doc, full, err := p.encodeInput(in)
	if err != nil {
		return nil, nil, abi.CallStats{}, p.usage(in.Hook, err.Error())
	}
	c := newCall(p, string(in.Hook), doc)
	c.in = full
	raw, stats, err := p.run(ctx, c)
	return c, raw, stats, err
}

// CallRaw calls any export that takes nothing and returns an i32 or nothing,
// with the input as it is, and returns the output as it is. A zero result is a
// success, as is the end of _start by exit code 0.
func (p *Plugin) CallRaw(ctx context.Context, export string, input []byte) ([]byte, abi.CallStats, error) {
	if sig, ok := p.module.ExportedFunc(export); !ok || sig != hookSignature && sig != "()" {
		message := fmt.Sprintf("no export %q", export)
		if ok {
			message = fmt.Sprintf("export %q is %s: only %s and () can be called", export, sig, hookSignature)
		}
		return nil, abi.CallStats{}, p.usage(abi.Hook(export), message+"; the module exports "+p.callable())
	}
	return p.run(ctx, newCall(p, export, input))
}

func (p *Plugin) callable() string {
	var names []string
	for _, e := range p.module.Exports {
		if sig, ok := p.module.ExportedFunc(e.Name); ok && (sig == hookSignature || sig == "()") && len(names) < maxListed {
			names = append(names, shorten(e.Name, 80))
		}
	}
	if names == nil {
		return "nothing that can be called"
	}
	return strings.Join(names, ", ")
}

// run runs one call: the limits, the instance, and what it ended with.
func (p *Plugin) run(caller context.Context, c *call) ([]byte, abi.CallStats, error) {
	start := time.Now()
	release, err := p.acquire(c)
	if err != nil {
		return nil, abi.CallStats{}, err
	}
	defer release()
	if err := c.fits(); err != nil {
		return nil, abi.CallStats{InputBytes: len(c.input), MS: millis(start)}, err
	}
	ctx := newCallContext(caller, c, time.Duration(p.limits.TimeoutMS)*time.Millisecond)
	defer ctx.end()

	out, fail := p.finish(caller, ctx, c)
	stats := c.stats()
	c.arena.reset()
	stats.OutputBytes = len(out)
	stats.MS = millis(start)
	if fail != nil {
		return nil, stats, fail
	}
	return out, stats, nil
}

func (p *Plugin) finish(caller, ctx context.Context, c *call) ([]byte, *abi.Error) {
	result, err := p.runEngine(ctx, c)
	if c.export == startExport && exitedWell(err) && c.cause == nil && ctx.Err() == nil {
		result, err = 0, nil
	}
	if err != nil {
		return nil, c.failure(caller, ctx, err)
	}
	if result != 0 {
		return nil, c.refusedItself(result)
	}
	if c.overOutput {
		return nil, c.tooLong()
	}
	if c.errorText != "" {
		c.warn("it set an error text and returned 0: " + shorten(c.errorText, 200))
	}
	c.phase = abi.PhaseOutput
	return c.result(), nil
}

// runEngine keeps a fault of the engine from ending the process.
func (p *Plugin) runEngine(ctx context.Context, c *call) (result uint32, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("engine: %v", r)
		}
	}()
	return p.engine.run(ctx, c)
}

// fits refuses an input that the guest has no room for.
func (c *call) fits() error {
	room := c.memory.limit
	if m := c.plugin.module; len(m.Memories) == 1 && m.Memories[0].HasMax && !m.Uses(abi.ExtismModule) {
		room = min(room, int64(m.Memories[0].Max)*pageBytes)
	}
	if n := len(c.input); int64(n) > room || n > maxInput {
		return c.with(c.error(abi.CodeInputLimit, inputMessage(n, int(room>>20))), memoryHint, nil)
	}
	return nil
}

func (p *Plugin) usage(hook abi.Hook, message string) *abi.Error {
	return &abi.Error{Code: abi.CodeUsage, Op: "call", Plugin: p.manifest.Name, Hook: hook, Message: message}
}

// acquire keeps the plugin open until release is called.
func (p *Plugin) acquire(c *call) (release func(), err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, p.usage(c.hook, "the plugin is closed")
	}
	p.calls++
	return p.release, nil
}

func (p *Plugin) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calls--; p.calls == 0 && p.closed {
		p.closeEngine()
	}
}

// closeEngine runs once, under the lock, when no call is left.
func (p *Plugin) closeEngine() {
	p.err = p.engine.close(context.Background())
	close(p.done)
}

// Close refuses new calls, waits for the running ones and frees what the
// plugin holds. Where ctx ends before they do it returns the context's error,
// and the last call frees the rest. Closing twice is fine.
func (p *Plugin) Close(ctx context.Context) error {
	p.mu.Lock()
	if !p.closed {
		p.closed = true
		p.runtime.forget(p)
		if p.calls == 0 {
			p.closeEngine()
		}
	}
	p.mu.Unlock()
	select {
	case <-p.done:
		return p.err
	case <-ctx.Done():
		return fmt.Errorf("close: %s: calls are running: %w", p.manifest.Name, ctx.Err())
	}
}

func millis(start time.Time) float64 { return float64(time.Since(start).Microseconds()) / 1000 }
