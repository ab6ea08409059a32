package runtime

import "context"

// compile turns a module's bytes into something that runs: vet, rewrite,
// compile, in this order and nowhere else. Whatever is wrong with the module
// is an *errForm.
func (r *Runtime) compile(ctx context.Context, wasm []byte, p *Plugin, o PluginOptions) (engine, error) {
	m := p.module
	if err := r.linker.vet(m, p.limits, o.AnyExport); err != nil {
		return nil, err
	}
	if err := checkReserved(m); err != nil {
		return nil, err
	}
	wasm = rewrite(wasm, m)
	var b *boot // nil where the guest starts by itself, for each call
	if !usesSegments(wasm) {
		if detached, boot, err := detach(wasm); err == nil {
			wasm, b = detached, boot
		}
	}
	n, err := r.compileNative(ctx, wasm, b, m, p.digest)
	if err != nil {
		return nil, err
	}
	n.rooms = r.rooms
	if size := orDefault(o.Warm, defaultWarm); b != nil && size > 0 {
		n.pool = r.reserve.newPool(size, n.prepare)
	}
	return n, nil
}

func (r *Runtime) compileNative(ctx context.Context, wasm []byte, b *boot, m *module, digest string) (*native, error) {
	if r.cache != nil && !r.interpreter {
		if n, err := r.cache.compile(ctx, wasm, b, m, digest); err == nil {
			return n, nil
		}
		// Without the cache it either works, or the error is the module's.
	}
	n, err := newNative(ctx, wasm, b, m, r.interpreter, nil)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, &errForm{"the engine refuses it: " + shorten(err.Error(), 500), "build the plugin again, for WebAssembly 2.0 without further proposals"}
	}
	return n, nil
}
