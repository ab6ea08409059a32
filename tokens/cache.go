package tokens

import (
	"hash/maphash"
	"sync"
)

// cache remembers counts by text, without the texts. A key is 128 bits of two
// keyed hashes and the length; the seeds are the process's own, so nobody can
// look for two texts that share a key, and by chance none will.
//
// It keeps two generations: what is used moves into the young one; when that
// is full, the old one is forgotten.
type cache struct {
	seeds [2]maphash.Seed
	limit int // entries of one generation

	mu         sync.Mutex
	young, old map[cacheKey]int
}

type cacheKey struct {
	hash [2]uint64
	len  int
}

// newCache holds at most n entries; a nil cache, for n < 0, none.
func newCache(n int) *cache {
	if n < 0 {
		return nil
	}
	return &cache{seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()},
		limit: max(n/2, 1), young: make(map[cacheKey]int)}
}

func (c *cache) key(s string) cacheKey {
	if c == nil {
		return cacheKey{}
	}
	return cacheKey{[2]uint64{maphash.String(c.seeds[0], s), maphash.String(c.seeds[1], s)}, len(s)}
}

func (c *cache) get(k cacheKey) (n int, ok bool) {
	if c == nil {
		return 0, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	n, ok = c.young[k]
	if ok {
		return n, true
	}
	if n, ok = c.old[k]; ok {
		c.insert(k, n)
	}
	return n, ok
}

func (c *cache) put(k cacheKey, n int) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.insert(k, n)
}

func (c *cache) insert(k cacheKey, n int) {
	if len(c.young) >= c.limit {
		c.old, c.young = c.young, make(map[cacheKey]int, c.limit)
	}
	c.young[k] = n
}
