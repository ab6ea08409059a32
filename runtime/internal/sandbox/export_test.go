package sandbox

import (
	"context"
	"errors"

	"github.com/kagewasm/kagewasm/runtime/internal/host"
	"github.com/kagewasm/kagewasm/runtime/internal/meter"
	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// Code is what a Spy has compiled.
type Code = code

// Spy is an engine that shows what it compiled last.
type Spy struct {
	*Engine
	// Attached compiles modules as they are, but metered: they start by
	// themselves in every call, as any engine would have it.
	Attached bool
	Last     *Code
}

// Compile implements host.Engine.
func (s *Spy) Compile(ctx context.Context, bin []byte, p *host.Plugin) (host.Code, error) {
	if !s.Attached {
		c, err := s.Engine.Compile(ctx, bin, p)
		if err == nil {
			s.Last = c.(*code)
		}
		return c, err
	}
	metered, info, err := meter.Rewrite(bin, p.Module, meter.Options{TickAfter: looksAway})
	if err != nil {
		return nil, err
	}
	return newCode(ctx, &prepared{bin: metered, stack: info.Stack}, p, s.interpreter, nil)
}

// Idle is how many instances wait for calls.
func (n *code) Idle() int {
	if n.pool == nil {
		return 0
	}
	n.pool.cache.mu.Lock()
	defer n.pool.cache.mu.Unlock()
	return len(n.pool.idle)
}

// Resting reports whether instances wait for calls and nothing else is going on.
func (n *code) Resting() bool {
	n.pool.cache.mu.Lock()
	defer n.pool.cache.mu.Unlock()
	return len(n.pool.idle) == n.pool.size && n.pool.refilling == nil
}

// Expire gives up what waits for calls, as time does.
func (n *code) Expire() { n.pool.expire() }

// Restores reports whether calls restore the state of the guest.
func (n *code) Restores() bool { return n.snapshot.Load() != nil }

// Instances makes instances apart from calls, to measure what that takes and to
// look at what they are.
type Instances struct {
	code *code
	snap *snapshot
}

// Instances starts a guest and takes its state: by a copy, or by a file that is
// mapped.
func (n *code) Instances(mapped bool) (*Instances, error) {
	r, ctx, end := n.newRun(nil)
	defer end()
	if err := n.start(ctx, r); err != nil {
		return nil, err
	}
	defer r.instance.close()
	x := &Instances{n, n.capture(r)}
	if x.snap == nil {
		return nil, errors.New("no snapshot")
	}
	if !mapped {
		x.snap.discard()
		memory := r.instance.memory.buf
		x.snap.memory = &image{size: len(memory), data: append([]byte(nil), memory...)}
	}
	return x, nil
}

func (n *code) newRun(input []byte) (*run, context.Context, func()) {
	c := host.NewCall(n.plugin, "pre_compact", host.Input{Bytes: input})
	r := &run{call: c}
	c.Engine = r
	ctx, end := c.Context(context.Background())
	return r, ctx, end
}

// Start starts a guest and ends it.
func (x *Instances) Start() error {
	r, ctx, end := x.code.newRun(nil)
	defer end()
	err := x.code.start(ctx, r)
	r.instance.close()
	return err
}

// Restore restores a guest, runs a hook where there is an input, and ends it.
func (x *Instances) Restore(input []byte) ([]byte, error) {
	i, err := x.code.restore(x.snap)
	if err != nil {
		return nil, err
	}
	defer i.close()
	if input == nil {
		return nil, nil
	}
	r, ctx, end := x.code.newRun(input)
	defer end()
	r.bind(i)
	_, err = i.call(ctx, "pre_compact")
	return r.call.Output(), err
}

// Close gives back the state.
func (x *Instances) Close() { x.snap.discard() }

// Detached is a module as detach rewrites it, or an error.
func Detached(bin []byte) ([]byte, error) {
	m, err := wasm.Parse(bin)
	if err != nil {
		return nil, err
	}
	if _, err := prepare(bin, m); err != nil {
		return nil, err
	}
	out, init, err := detach(bin, false)
	if err == nil && !init.restorable {
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

// Seal writes the sum of an entry of the cache.
func Seal(key []byte, entry string) error { return (&diskCache{key: key}).seal(entry) }
