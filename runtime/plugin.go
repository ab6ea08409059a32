package runtime

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/callrecord"
	"github.com/kagewasm/kagewasm/internal/strictjson"
	"github.com/kagewasm/kagewasm/runtime/internal/host"
	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// Plugin is a loaded module. It is safe for concurrent use: every call runs in
// an instance of its own.
type Plugin struct {
	runtime *Runtime
	shared  host.Plugin // what calls share
	source  string      // of the manifest
	size    int         // of the module, in bytes
	grants  Grants
	hooks   []abi.Hook
	engine  Engine
	code    host.Code

	mu     sync.Mutex
	calls  int           // running
	closed bool          // no new ones
	done   chan struct{} // closed once the code is
	err    error         // of closing it
}

// Manifest returns what the plugin says about itself. Where it says nothing, it is an observer of the
// hooks it exports. The caller must not change it.
func (p *Plugin) Manifest() *abi.Manifest { return p.shared.Manifest }

// Digest returns "sha256:" and the hex digest of the module's bytes.
func (p *Plugin) Digest() string { return p.shared.Digest }

// Limits returns the limits of each call.
func (p *Plugin) Limits() abi.Limits { return p.shared.Limits }

// Hooks returns the hooks the plugin takes part in, in the order of a turn.
func (p *Plugin) Hooks() []abi.Hook { return slices.Clone(p.hooks) }

// Granted reports whether the plugin has a capability: it asks for it, and the
// operator grants it.
func (p *Plugin) Granted(c abi.Capability) bool { return p.shared.Asks(c) && p.grants.Allows(c) }

// Namespace returns the namespace of the plugin's data for an agent, in the runtime's KV and in any
// other store that has what the plugin retains. The first call claims the name where nobody has it.
func (p *Plugin) Namespace(ctx context.Context, agentPath string) (string, error) {
	return p.shared.Namespace(ctx, agentPath, true)
}

// Call runs the hook in.Hook and returns what it answered: nil where it has
// nothing to say. ABI and Config of the input are filled in; in itself is not
// changed. The error is an *abi.Error, and then there is no output; the stats
// are those of the call, whether it failed or not.
func (p *Plugin) Call(ctx context.Context, in *abi.Input) (*abi.Output, abi.CallStats, error) {
	var out *abi.Output
	var warnings []string
	c, _, stats, err := p.callHook(ctx, in, func(raw []byte, l strictjson.Limits) (err error) {
		out, warnings, err = decodeOutput(raw, l)
		return err
	})
	stats.Warnings = append(stats.Warnings, warnings...)
	if err != nil {
		return nil, stats, err
	}
	if out != nil && len(out.Retain) > 0 {
		stats.Warnings = append(stats.Warnings, c.Retains(ctx)...)
	}
	if asked := c.CompactionRequest(); asked != nil {
		out = cmp.Or(out, new(abi.Output))
		out.RequestCompaction = cmp.Or(out.RequestCompaction, asked)
	}
	return out, stats, nil
}

// CallHook is [Plugin.Call], but returns the answer as the plugin wrote it, whatever it is.
func (p *Plugin) CallHook(ctx context.Context, in *abi.Input) ([]byte, abi.CallStats, error) {
	_, raw, stats, err := p.callHook(ctx, in, nil)
	return raw, stats, err
}

// callHook calls a hook and has its answer read, within what the call has left.
func (p *Plugin) callHook(ctx context.Context, in *abi.Input, read host.Reader) (
	*host.Call, []byte, abi.CallStats, error) {
	if !slices.Contains(p.hooks, in.Hook) {
		return nil, nil, abi.CallStats{}, p.usage(
			in.Hook, fmt.Sprintf("the plugin has no hook %q: it has %s", in.Hook, joinNames(p.hooks)),
		)
	}
	doc, full, err := p.encodeInput(in)
	if err != nil {
		return nil, nil, abi.CallStats{}, p.usage(in.Hook, err.Error())
	}
	callrecord.Of(ctx).Begin(in.Call, in.Time, doc, p.shared.Config, p.shared.Limits)
	c := host.NewCall(&p.shared, string(in.Hook), host.Input{Bytes: doc, Full: full})
	raw, stats, err := p.run(ctx, c, in.Hook, read)
	return c, raw, stats, err
}

// CallRaw calls any export that takes nothing and returns an i32 or nothing,
// with the input as it is, and returns the output as it is. A zero result is a
// success, as is the end of _start by exit code 0.
func (p *Plugin) CallRaw(ctx context.Context, export string, input []byte) ([]byte, abi.CallStats, error) {
	hook := abi.Hook(export)
	if sig, ok := p.shared.Module.ExportedFunc(export); !callable(sig, ok) {
		message := fmt.Sprintf("no export %q", export)
		if ok {
			message = fmt.Sprintf("export %q is %s: only %s and () can be called", export, sig, hookSignature)
		}
		return nil, abi.CallStats{}, p.usage(hook, message+"; the module exports "+p.callables())
	}
	if !hook.Valid() {
		hook = ""
	}
	return p.run(ctx, host.NewCall(&p.shared, export, host.Input{Bytes: input}), hook, nil)
}

// callable reports whether a function of the signature can be called, if there is
// one.
func callable(sig wasm.Signature, ok bool) bool { return ok && (sig == hookSignature || sig == "()") }

func (p *Plugin) callables() string {
	var names []string
	for _, e := range p.shared.Module.Exports {
		if callable(p.shared.Module.ExportedFunc(e.Name)) && len(names) < maxListed {
			names = append(names, host.Shorten(e.Name, 80))
		}
	}
	if names == nil {
		return "nothing that can be called"
	}
	return strings.Join(names, ", ")
}

// run runs one call.
func (p *Plugin) run(
	ctx context.Context, c *host.Call, hook abi.Hook, read host.Reader,
) ([]byte, abi.CallStats, error) {
	start := time.Now()
	if !p.acquire() {
		return nil, abi.CallStats{}, p.usage(hook, "the plugin is closed")
	}
	defer p.release()
	out, stats, fail := c.Run(ctx, p.code, read)
	stats.MS = millis(start)
	if fail != nil {
		return nil, stats, fail
	}
	return out, stats, nil
}

func (p *Plugin) usage(hook abi.Hook, message string) *abi.Error {
	return &abi.Error{Code: abi.CodeUsage, Op: "call", Plugin: p.shared.Manifest.Name, Hook: hook, Message: message}
}

// acquire keeps the plugin open until it is released, unless it is closed.
func (p *Plugin) acquire() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.calls++
	}
	return !p.closed
}

func (p *Plugin) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calls--; p.calls == 0 && p.closed {
		p.closeCode()
	}
}

// closeCode runs once, under the lock, when no call is left.
func (p *Plugin) closeCode() {
	p.err = p.code.Close(context.Background())
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
			p.closeCode()
		}
	}
	p.mu.Unlock()
	select {
	case <-p.done:
		return p.err
	case <-ctx.Done():
		return fmt.Errorf("close: %s: calls are running: %w", p.shared.Manifest.Name, ctx.Err())
	}
}

func millis(start time.Time) float64 { return float64(time.Since(start).Microseconds()) / 1000 }
