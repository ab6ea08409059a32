package runtime

import "sync"

// reserve is the idle instances of all plugins of a runtime.
type reserve struct {
	mu    sync.Mutex
	limit int64 // of bytes
	bytes int64
	made  uint64 // instances so far
	pools map[*pool]bool
}

func newReserve(limit int64) *reserve {
	return &reserve{limit: limit, pools: make(map[*pool]bool)}
}

// newPool makes a pool of at most size instances.
func (r *reserve) newPool(size int, make func(export string) (*instance, error)) *pool {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := &pool{reserve: r, size: size, make: make}
	r.pools[p] = true
	return p
}

// shrink takes the oldest instances away while there are too many. The mutex
// is held.
func (r *reserve) shrink() {
	for r.bytes > r.limit {
		var oldest *pool
		for p := range r.pools {
			if len(p.idle) > 0 && (oldest == nil || p.idle[0].made < oldest.idle[0].made) {
				oldest = p
			}
		}
		oldest.used = append(oldest.used, oldest.remove(0))
		oldest.wanted = false // or two pools could take from each other for ever
		oldest.wake()
	}
}
