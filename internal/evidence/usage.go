package evidence

import (
	"context"

	"github.com/kagewasm/kagewasm/abi"
)

// Used is what calls of one kind took.
type Used struct {
	Calls           int       `json:"calls"`
	MS              []float64 `json:"-"` // of each call
	PeakMemoryBytes int64     `json:"peak_memory_bytes"`
	MostHostCalls   int       `json:"most_host_calls"` // of one call
}

// UsedBy sums up the figures of calls.
func UsedBy(calls []abi.CallStats) Used {
	u := Used{Calls: len(calls)}
	for _, c := range calls {
		u.MS = append(u.MS, c.MS)
		u.PeakMemoryBytes = max(u.PeakMemoryBytes, c.PeakMemoryBytes)
		n := 0
		for _, k := range c.HostCalls {
			n += k
		}
		u.MostHostCalls = max(u.MostHostCalls, n)
	}
	return u
}

// Storage is where a plugin keeps what it retains.
type Storage interface {
	List(ctx context.Context, ns, prefix string) ([]string, error)
	Get(ctx context.Context, ns, key string) (value string, found bool, err error)
}

// StoredBytes is what is kept in a namespace, keys included.
func StoredBytes(ctx context.Context, s Storage, ns string) (n int, err error) {
	keys, err := s.List(ctx, ns, "")
	for _, key := range keys {
		value, _, err := s.Get(ctx, ns, key)
		if err != nil {
			return 0, err
		}
		n += len(key) + len(value)
	}
	return n, err
}

// TextBytes is what the turns of a conversation say, as memories are given it.
func (d *Dataset) TextBytes() (n int) {
	for _, s := range d.Sessions {
		for i := range s.Turns {
			n += len(s.Turns[i].Text())
		}
	}
	return n
}
