package runtime

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/tetratelabs/wazero/api"
)

// snapshot is the state of a guest that has initialized itself and was not
// called yet. A guest restored from it cannot tell that it was, neither by its
// memory and globals nor by the world it sees. Tables are those of any
// instance: a guest that can change one is not detached.
type snapshot struct {
	memory  image // nil where the guest has none
	globals []uint64
	random  rand.ChaCha8
	clock   guestClock
	budget  budget
	gauge   gauge
	logs    logSink
	parts   [2][]byte // of lines that have not ended, on stdout and stderr
}

// capture takes the state of the guest of a call, as it is before its export
// runs. It is nil where another guest could not be given the same: this one
// asked its host for something whose answer depends on the call, or changed
// what it has open, or has too much in its memory.
func (n *native) capture(c *call) *snapshot {
	if !n.boot.canRestore() || c.askedHost || c.changedFiles {
		return nil
	}
	i := c.inst
	s := &snapshot{budget: c.memory, logs: c.logs, gauge: c.gauge}
	s.gauge.used, s.gauge.handed = c.burnt(), 0
	s.logs.lines = slices.Clone(c.logs.lines)
	s.parts = [2][]byte{slices.Clone(c.stdout.part), slices.Clone(c.stderr.part)}
	for _, name := range n.boot.globals {
		s.globals = append(s.globals, i.module.ExportedGlobal(name).Get())
	}
	if i.world != nil {
		s.random, s.clock = i.world.random, i.world.clock
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
func (n *native) restore(s *snapshot) (i *instance, err error) {
	i = &instance{rooms: n.rooms, budget: &budget{limit: s.budget.limit}, before: s}
	if n.wasi {
		i.world = newWorld()
		i.world.random, i.world.clock = s.random, s.clock
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
	for k, name := range n.boot.globals {
		i.module.ExportedGlobal(name).(api.MutableGlobal).Set(s.globals[k])
	}
	if s.memory != nil {
		more := s.memory.size() - i.memory.size()
		if _, ok := i.module.Memory().Grow(uint32(more / pageBytes)); !ok {
			return nil, fmt.Errorf("no room for %d bytes of memory", s.memory.size())
		}
		if err := s.memory.restore(i.memory); err != nil {
			return nil, err
		}
	}
	*i.budget = s.budget
	restored = true
	return i, nil
}

// replay shows in a call what the guest did before it.
func (s *snapshot) replay(c *call) {
	if len(s.logs.lines) > 0 {
		c.logs.lines = slices.Clone(s.logs.lines)
	}
	c.gauge = s.gauge
	c.logs.left, c.logs.dropped = s.logs.left, s.logs.dropped
	c.stdout.part, c.stderr.part = slices.Clone(s.parts[0]), slices.Clone(s.parts[1])
}

// discard gives back what the snapshot holds. Instances restored from it stay
// good.
func (s *snapshot) discard() {
	if s != nil && s.memory != nil {
		s.memory.discard()
	}
}
