package runtime

import (
	"context"
	"errors"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/runtime/internal/meter"
	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// DecodeOutput and Rewrite are seen by the fuzz targets alone.
var DecodeOutput = decodeOutput

// Rewritten is what is compiled in place of the module, or an error where it
// is refused.
func Rewritten(bin []byte) ([]byte, error) {
	m, err := wasm.Parse(bin)
	if err != nil {
		return nil, err
	}
	p, err := prepare(bin, m)
	if err != nil {
		return nil, err
	}
	return p.bin, nil
}

// Imports are the functions that a guest may import, with their signatures, by
// module.
func Imports(r *Runtime) map[string]map[string]string {
	all := make(map[string]map[string]string)
	for module, funcs := range r.linker {
		all[module] = make(map[string]string)
		for name, sig := range funcs {
			all[module][name] = string(sig)
		}
	}
	return all
}

// Instances makes instances of a plugin apart from its calls, to measure what
// that takes and to look at what they are.
type Instances struct {
	native *native
	plugin *Plugin
	snap   *snapshot
}

// InstancesOf starts a guest and takes its state: by a copy, or by a file that
// is mapped.
func InstancesOf(p *Plugin, mapped bool) (*Instances, error) {
	n := p.engine.(*native)
	x := &Instances{native: n, plugin: p}
	c := newCall(p, "pre_compact", nil)
	ctx := context.WithValue(context.Background(), callKey{}, c)
	if err := n.start(ctx, c); err != nil {
		return nil, err
	}
	defer c.inst.close()
	if x.snap = n.capture(c); x.snap == nil {
		return nil, errors.New("no snapshot")
	}
	if !mapped {
		x.snap.discard()
		x.snap.memory = copyImage(c.inst.memory.buf)
	}
	return x, nil
}

// Start starts a guest and ends it.
func (x *Instances) Start() error {
	c := newCall(x.plugin, "pre_compact", nil)
	err := x.native.start(context.WithValue(context.Background(), callKey{}, c), c)
	c.inst.close()
	return err
}

// Restore restores a guest, runs a hook where there is an input, and ends it.
func (x *Instances) Restore(input []byte) ([]byte, error) {
	i, err := x.native.restore(x.snap)
	if err != nil {
		return nil, err
	}
	defer i.close()
	if input == nil {
		return nil, nil
	}
	c := newCall(x.plugin, "pre_compact", input)
	i.bind(c)
	_, err = i.call(context.WithValue(context.Background(), callKey{}, c), "pre_compact")
	return c.result(), err
}

// Close gives back the state.
func (x *Instances) Close() { x.snap.discard() }

// Idle is how many instances of a plugin wait for calls.
func Idle(p *Plugin) int {
	pool := p.engine.(*native).pool
	if pool == nil {
		return 0
	}
	pool.reserve.mu.Lock()
	defer pool.reserve.mu.Unlock()
	return len(pool.idle)
}

// Resting reports whether instances of a plugin wait for calls and nothing
// else is going on.
func Resting(p *Plugin) bool {
	pool := p.engine.(*native).pool
	pool.reserve.mu.Lock()
	defer pool.reserve.mu.Unlock()
	return len(pool.idle) == pool.size && pool.refilling == nil
}

// Expire gives up what waits for calls, as time does.
func Expire(p *Plugin) { p.engine.(*native).pool.expire() }

// Attached loads a plugin whose module is compiled as it is: it starts by
// itself in every call, as any engine would have it.
func Attached(r *Runtime, bin []byte, o PluginOptions) (*Plugin, error) {
	m, err := Open(bin)
	if err != nil {
		return nil, err
	}
	p := &Plugin{runtime: r, module: m.wasm, grants: o.Grants, digest: m.digest, manifest: m.manifest, done: make(chan struct{})}
	if o.Manifest != nil {
		p.manifest = o.Manifest
	}
	if err := p.configure(o); err != nil {
		return nil, err
	}
	if err := r.linker.vet(p.module, p.limits, o.AnyExport); err != nil {
		return nil, err
	}
	metered, info, err := meter.Rewrite(bin, p.module, meter.Options{TickAfter: looksAway})
	if err != nil {
		return nil, err
	}
	n, err := newNative(context.Background(), &prepared{bin: metered, stack: info.Stack}, p.module, r.interpreter, nil)
	if err != nil {
		return nil, err
	}
	p.engine = n
	r.remember(p)
	return p, nil
}

// Restores reports whether the calls of a plugin restore its state.
func Restores(p *Plugin) bool { return p.engine.(*native).snapshot.Load() != nil }

// CallContext is the context of a call, and what ends it.
func CallContext(caller context.Context, limit time.Duration) (context.Context, func()) {
	x := newCallContext(caller, nil, limit)
	return x, x.end
}

// Detached is a module as detach rewrites it, or an error.
func Detached(bin []byte) ([]byte, error) {
	if _, err := Rewritten(bin); err != nil {
		return nil, err
	}
	out, b, err := detach(bin, false)
	if err == nil && !b.restorable {
		return nil, errors.New("not restorable")
	}
	return out, err
}

// UsesSegments is what decides whether a module is detached.
func UsesSegments(bin []byte) bool {
	m, err := wasm.Parse(bin)
	if err != nil {
		return true
	}
	_, info, err := meter.Rewrite(bin, m, meter.Options{})
	return err != nil || info.Segments
}

// ExtismABI are the functions of the Extism ABI with their signatures.
func ExtismABI() map[string]string {
	funcs := make(map[string]string)
	for _, f := range hostModules[abi.ExtismModule] {
		funcs[f.name] = string(f.sig)
	}
	return funcs
}
