package bank

import (
	"strings"

	"github.com/kagewasm/kagewasm/internal/set"
)

// sweepEvery is after how many changes values are looked for that nothing
// names.
const sweepEvery = 64

// sweep notes the values that a writer which broke off has left.
func (c *change) sweep() error {
	named := set.Of(c.gone...)
	for _, g := range c.root.garbage {
		for _, n := range g.names {
			named[n] = true
		}
	}
	for i := range c.root.segments {
		s := &c.root.segments[i]
		t, err := c.table(s)
		if err != nil {
			return err
		}
		named[s.table], named[s.known] = true, true
		for _, l := range t.shards {
			named[l.name] = true
		}
		for _, w := range t.blocks {
			named[w.name] = true
		}
	}
	keys, err := c.kv.List(c.prefix)
	if err != nil {
		return err
	}
	for _, key := range keys {
		if n := strings.TrimPrefix(key, c.prefix); isName(n) && !named[n] {
			c.gone = append(c.gone, n)
		}
	}
	return nil
}
