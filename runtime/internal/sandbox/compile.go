package sandbox

import (
	"context"
	"errors"
	goruntime "runtime"

	"github.com/kagewasm/kagewasm/runtime/internal/host"
	"github.com/kagewasm/kagewasm/runtime/internal/meter"
	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// prepared is a module as the engine gets it, and what the host has to know of
// it then.
type prepared struct {
	bin []byte
	// init is nil where there is nothing to call.
	init *initState
	// stack is what a call takes of the stack before anything counts, in bytes.
	stack uint32
	// workers are how many functions may be compiled side by side: all together take
	// no more memory meanwhile than one may.
	workers int
}

// prepare rewrites a module for the engine: metered, so that it can be stopped,
// and detached. It reads the bytes alone.
func prepare(bin []byte, m *wasm.Module) (*prepared, error) {
	metered, info, err := meter.Rewrite(bin, m, meter.Options{TickAfter: looksAway})
	if err != nil {
		return nil, err
	}
	p := &prepared{bin: metered, stack: info.Stack, workers: max(1, min(goruntime.GOMAXPROCS(0),
		meter.MaxScratch/max(1, info.Scratch)))}
	if detached, init, err := detach(metered, info.Segments); err == nil {
		p.bin, p.init = detached, init
	}
	return p, nil
}

// looksAway reports whether an imported function does not look at the clock by
// itself, as those of package host do.
func looksAway(module, _ string) bool { _, ours := host.Functions[module]; return !ours }

// compile turns the bytes of a vetted module into something that runs.
func (e *Engine) compile(ctx context.Context, bin []byte, p *host.Plugin) (*code, error) {
	n, err := e.rewriteAndCompile(ctx, bin, p)
	if err != nil {
		return nil, err
	}
	if err := checkStack(n.stack, p); err != nil {
		_ = n.Close(ctx)
		return nil, err
	}
	n.slots = e.slots
	if size := orDefault(p.Warm, defaultWarm); n.init.canRestore() && size > 0 {
		n.pool = e.idle.newPool(size, n.prepare)
	}
	return n, nil
}

func (e *Engine) rewriteAndCompile(ctx context.Context, bin []byte, p *host.Plugin) (*code, error) {
	if e.cache != nil && !e.interpreter {
		n, err := e.cache.compile(ctx, bin, p)
		var form *wasm.FormError
		if err == nil || errors.As(err, &form) || ctx.Err() != nil {
			return n, err
		}
		// The cache is at fault, or the engine: without it that shows.
	}
	ready, err := prepare(bin, p.Module)
	if err != nil {
		return nil, err
	}
	n, err := newCode(ctx, ready, p, e.interpreter, nil)
	switch {
	case err == nil:
		return n, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return nil, &wasm.FormError{
		Message: "the engine refuses it: " + host.Shorten(err.Error(), 500),
		Hint:    "build the plugin again, for WebAssembly 2.0 without further proposals",
	}
}
