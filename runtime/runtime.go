package runtime

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/owner"
	"github.com/kagewasm/kagewasm/runtime/internal/host"
	"github.com/kagewasm/kagewasm/runtime/internal/sandbox"
)

// Runtime loads plugins. It is safe for concurrent use.
type Runtime struct {
	linker   linker
	sandbox  *sandbox.Engine
	services *host.Services

	mu      sync.Mutex
	plugins map[*Plugin]bool
	closed  bool
}

// New makes a runtime. The error is of code usage where the options are wrong.
func New(_ context.Context, o Options) (*Runtime, error) {
	r := &Runtime{services: host.NewServices(o.KV, o.Counter, o.Model), plugins: make(map[*Plugin]bool)}
	var err error
	if r.linker, err = newLinker(); err != nil {
		return nil, &abi.Error{Code: abi.CodeInternal, Op: "new runtime", Message: err.Error(), Err: err}
	}
	r.sandbox, err = sandbox.New(sandbox.Options{
		CacheDir: o.CacheDir, CacheKey: o.CacheKey, Interpreter: o.Interpreter, WarmBytes: o.WarmBytes,
	})
	if err != nil {
		return nil, cacheFault(err)
	}
	return r, nil
}

// cacheFault is the error of a folder that cannot be the cache.
func cacheFault(err error) error {
	fault := &abi.Error{
		Code: abi.CodeUsage, Op: "new runtime", Message: fmt.Sprintf("cache: %v", err), Err: err,
		Hint: "name a folder that only you can write to (chmod 700), or none",
	}
	if others, ok := errors.AsType[*owner.Error](err); ok && others.Fix != "" {
		fault.Hint = others.Fix + "; what is in it runs as machine code"
	}
	return fault
}

// Close closes all plugins, as [Plugin.Close] does.
func (r *Runtime) Close(ctx context.Context) error {
	r.mu.Lock()
	r.closed = true
	plugins := slices.Collect(maps.Keys(r.plugins))
	r.mu.Unlock()
	errs := lists.Map(plugins, func(p *Plugin) error { return p.Close(ctx) })
	r.sandbox.Close()
	return errors.Join(errs...)
}

func (r *Runtime) remember(p *Plugin) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.plugins[p] = true
	}
	return !r.closed
}

func (r *Runtime) forget(p *Plugin) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.plugins, p)
}
