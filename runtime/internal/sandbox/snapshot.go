package sandbox

import (
	"context"
	"fmt"

	"github.com/tetratelabs/wazero/api"

	"github.com/kagewasm/kagewasm/runtime/internal/host"
)

// snapshot is the state of a guest that has initialized itself and was not
// called yet. A guest restored from it cannot tell that it was, neither by its
// memory and globals nor by its WASI environment. Tables are those of any
// instance: a guest that can change one is not detached.
type snapshot struct {
	memory  *image // nil where the guest has none
	globals []uint64
	wasi    *host.WASI
	budget  host.Budget
	counted counts
	logs    host.Logs
}

// capture takes the state of the guest of a call, as it is before its export
// runs. It is nil where another guest could not be given the same: this one
// asked its host for something whose answer depends on the call, or changed
// what it has open, or has too much in its memory.
func (n *code) capture(r *run) *snapshot {
	c, i := r.call, r.instance
	if !n.init.canRestore() || c.AskedHost || c.ChangedFiles {
		return nil
	}
	s := &snapshot{budget: c.Memory, logs: c.Logs.Clone(), counted: r.counted}
	s.counted.fuel, s.counted.handed = r.burnt(), 0
	for _, name := range n.init.globals {
		s.globals = append(s.globals, i.module.ExportedGlobal(name).Get())
	}
	if i.wasi != nil {
		s.wasi = i.wasi.Clone()
	}
	if i.memory != nil {
		if s.memory = newImage(i.memory.buf); s.memory == nil {
			return nil
		}
	}
	return s
}

// restore makes an instance in the state of the snapshot. It belongs to no
// call yet.
func (n *code) restore(s *snapshot) (i *instance, err error) {
	i = &instance{slots: n.slots, budget: &host.Budget{Limit: s.budget.Limit}, before: s}
	if s.wasi != nil {
		i.wasi = s.wasi.Clone()
	}
	restored := false
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("engine: %v", r)
		}
		if !restored {
			i.close()
			i = nil
		}
	}()
	if err := n.instantiate(context.Background(), i); err != nil {
		return nil, err
	}
	for k, name := range n.init.globals {
		i.module.ExportedGlobal(name).(api.MutableGlobal).Set(s.globals[k])
	}
	if s.memory != nil {
		more := s.memory.size - i.memory.size()
		if _, ok := i.module.Memory().Grow(uint32(more / pageBytes)); !ok {
			return nil, fmt.Errorf("no room for %d bytes of memory", s.memory.size)
		}
		if err := s.memory.restore(i.memory); err != nil {
			return nil, err
		}
	}
	*i.budget = s.budget
	restored = true
	return i, nil
}

// discard gives back what the snapshot holds. Instances restored from it stay
// good.
func (s *snapshot) discard() {
	if s != nil {
		s.memory.discard()
	}
}
