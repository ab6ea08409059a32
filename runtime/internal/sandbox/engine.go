package sandbox

import (
	"context"

	"github.com/kagewasm/kagewasm/runtime/internal/host"
)

// Name is the engine's name.
const Name = "native"

// Options of an [Engine]; see runtime.Options.
type Options struct {
	CacheDir    string
	CacheKey    []byte
	Interpreter bool
	WarmBytes   int64
}

// Engine compiles modules for the sandbox. It is safe for concurrent use.
type Engine struct {
	cache       *diskCache // nil: modules are compiled at every load
	interpreter bool
	idle        *idleCache
	slots       *slots
}

// The defaults of what waits for calls.
const (
	defaultWarm      = 2
	defaultWarmBytes = 256 << 20
)

// orDefault resolves an option: zero is the default, and negative is none.
func orDefault[T int | int64](v, zero T) T {
	if v == 0 {
		return zero
	}
	return max(v, 0)
}

// New makes an engine. The error is about the folder of the cache.
func New(o Options) (*Engine, error) {
	e := &Engine{
		interpreter: o.Interpreter, idle: newIdleCache(orDefault(o.WarmBytes, defaultWarmBytes)), slots: new(slots),
	}
	var err error
	if o.CacheDir != "" {
		e.cache, err = openCache(o.CacheDir, o.CacheKey)
	}
	return e, err
}

// Name implements [host.Engine].
func (e *Engine) Name() string { return Name }

// Close gives back the memory that the engine keeps for instances.
func (e *Engine) Close() { e.slots.close() }

// Compile implements [host.Engine].
func (e *Engine) Compile(ctx context.Context, bin []byte, p *host.Plugin) (host.Code, error) {
	c, err := e.compile(ctx, bin, p)
	if err != nil {
		return nil, err // not a host.Code of a nil *code
	}
	return c, nil
}
