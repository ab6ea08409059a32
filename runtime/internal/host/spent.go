package host

import (
	"context"
	"errors"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/strictjson"
)

// Spent is what a call may take, and what it took. Engines count what they alone see.
type Spent struct {
	Memory        Budget
	Fuel          int64
	StackBytes    int64
	TableElements int64
	TablesDenied  bool // a table could not grow

	work  Budget // what the host builds of what the guest wrote
	clock clock
}

func newSpent(l *abi.Limits) Spent {
	memory := Budget{Limit: int64(l.MemoryMB) << 20}
	return Spent{Memory: memory, work: memory}
}

// denied reports whether the guest wanted more memory or larger tables.
func (s *Spent) denied() bool { return s.TablesDenied || s.Memory.Denied }

// errHostMemory: what a guest wrote takes more memory to read than the call has.
var errHostMemory = errors.New("it takes more memory to read than the call has")

// reading is what it may cost the host to read something that the guest wrote: the
// time of the call, and as much memory as the guest has.
func (s *Spent) reading(ctx context.Context) strictjson.Limits {
	s.work.Used = 0
	return strictjson.Limits{Look: ctx.Err, Take: func(n int64) error {
		if !s.work.Take(n) {
			return errHostMemory
		}
		return nil
	}}
}

func (s *Spent) report(stats *abi.CallStats) {
	stats.Fuel, stats.StackBytes, stats.TableElements = s.Fuel, s.StackBytes, s.TableElements
	stats.PeakMemoryBytes = max(s.Memory.Peak, s.work.Peak)
}
