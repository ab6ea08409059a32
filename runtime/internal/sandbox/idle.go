package sandbox

import "sync"

// idleCache is the idle instances of all plugins of an engine.
type idleCache struct {
	mu    sync.Mutex
	limit int64 // of bytes
	bytes int64
	made  uint64 // instances so far
	pools map[*pool]bool
}

func newIdleCache(limit int64) *idleCache {
	return &idleCache{limit: limit, pools: make(map[*pool]bool)}
}

// newPool makes a pool of at most size instances.
func (c *idleCache) newPool(size int, make func(export string) (*instance, error)) *pool {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := &pool{cache: c, size: size, make: make}
	c.pools[p] = true
	return p
}

// shrink takes the oldest instances away while there are too many. The mutex
// is held.
func (c *idleCache) shrink() {
	for c.bytes > c.limit {
		var oldest *pool
		for p := range c.pools {
			if len(p.idle) > 0 && (oldest == nil || p.idle[0].made < oldest.idle[0].made) {
				oldest = p
			}
		}
		oldest.used = append(oldest.used, oldest.remove(0))
		oldest.wanted = false // not refilled now: two pools would evict each other's instances for ever
		oldest.wake()
	}
}
