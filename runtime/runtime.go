package runtime

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/kagewasm/kagewasm/abi"
)

// Runtime loads plugins. It is safe for concurrent use.
type Runtime struct {
	linker      linker
	cache       *diskCache
	kv          abi.KV
	counter     abi.Counter
	model       abi.Model
	interpreter bool
	lines       chan struct{} // held by who looks at lines; see namespace.go
	reserve     *reserve
	rooms       *rooms
	changing    chan struct{} // held by who changes a KV that cannot swap; see kv.go

	mu      sync.Mutex
	plugins map[*Plugin]bool
	closed  bool
}

// New makes a runtime. The error is of code usage where the options are wrong.
func New(ctx context.Context, o Options) (*Runtime, error) {
	r := &Runtime{kv: o.KV, counter: o.Counter, model: o.Model, interpreter: o.Interpreter, lines: make(chan struct{}, 1), changing: make(chan struct{}, 1), plugins: make(map[*Plugin]bool)}
	r.reserve, r.rooms = newReserve(orDefault(o.WarmBytes, defaultWarmBytes)), new(rooms)
	var err error
	if r.linker, err = newLinker(ctx); err != nil {
		return nil, &abi.Error{Code: abi.CodeInternal, Op: "new runtime", Message: err.Error(), Err: err}
	}
	if o.CacheDir != "" {
		if r.cache, err = openCache(o.CacheDir); err != nil {
			return nil, &abi.Error{
				Code: abi.CodeUsage, Op: "new runtime", Message: fmt.Sprintf("cache: %v", err), Err: err,
				Hint: "name a folder that only you can write to (chmod 700), or none",
			}
		}
	}
	return r, nil
}

// Close closes all plugins, as [Plugin.Close] does.
func (r *Runtime) Close(ctx context.Context) error {
	r.mu.Lock()
	r.closed = true
	var plugins []*Plugin
	for p := range r.plugins {
		plugins = append(plugins, p)
	}
	r.mu.Unlock()
	var errs []error
	for _, p := range plugins {
		errs = append(errs, p.Close(ctx))
	}
	r.rooms.close()
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
