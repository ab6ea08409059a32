package runtime

import (
	"context"
	"errors"
	"fmt"

	"github.com/kagewasm/kagewasm/runtime/internal/meter"
	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// prepared is a module as the engine gets it, and what the host has to know of
// it then.
type prepared struct {
	bin []byte
	// boot is nil where there is nothing to call.
	boot *boot
	// stack is what a call takes of the stack before anything counts, in bytes.
	stack uint32
}

// prepare rewrites a module for the engine: metered, so that it can be stopped,
// and detached. It reads the bytes alone.
func prepare(bin []byte, m *wasm.Module) (*prepared, error) {
	metered, info, err := meter.Rewrite(bin, m, meter.Options{TickAfter: looksAway})
	if err != nil {
		return nil, err
	}
	p := &prepared{bin: metered, stack: info.Stack}
	if detached, boot, err := detach(metered, info.Segments); err == nil {
		p.bin, p.boot = detached, boot
	}
	return p, nil
}

// looksAway reports whether an imported function does not look at the clock by
// itself: those of the host do, in tick and check.
func looksAway(module, _ string) bool { _, ours := hostModules[module]; return !ours }

// compile turns a module's bytes into something that runs: vet, rewrite,
// compile, in this order and nowhere else. Whatever is wrong with the module
// is a *wasm.FormError.
func (r *Runtime) compile(ctx context.Context, bin []byte, p *Plugin, o PluginOptions) (engine, error) {
	m := p.module
	if err := r.linker.vet(m, p.limits, o.AnyExport); err != nil {
		return nil, err
	}
	n, err := r.compileNative(ctx, bin, m, p.digest)
	if err != nil {
		return nil, err
	}
	if int(n.stack) > p.limits.StackBytes {
		_ = n.close(ctx)
		return nil, refusal(fmt.Sprintf("a function takes %d bytes of stack, %d allowed", n.stack, p.limits.StackBytes), stackHint)
	}
	n.rooms = r.rooms
	if size := orDefault(o.Warm, defaultWarm); n.boot.canRestore() && size > 0 {
		n.pool = r.reserve.newPool(size, n.prepare)
	}
	return n, nil
}

func (r *Runtime) compileNative(ctx context.Context, bin []byte, m *wasm.Module, digest string) (*native, error) {
	if r.cache != nil && !r.interpreter {
		n, err := r.cache.compile(ctx, bin, m, digest)
		var form *wasm.FormError
		if err == nil || errors.As(err, &form) || ctx.Err() != nil {
			return n, err
		}
		// The cache is at fault, or the engine: without it that shows.
	}
	p, err := prepare(bin, m)
	if err != nil {
		return nil, err
	}
	n, err := newNative(ctx, p, m, r.interpreter, nil)
	switch {
	case err == nil:
		return n, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return nil, refusal("the engine refuses it: "+shorten(err.Error(), 500), "build the plugin again, for WebAssembly 2.0 without further proposals")
}
