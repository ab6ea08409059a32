package bank

import (
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/sealed"
)

// keepFor is for how many changes of the bank values are kept that it does not
// name any more.
const keepFor = 8

// commit stores new values first and then the root that names them, unless the
// root was changed meanwhile; then done is false. What older roots named goes
// last, and late.
func (b *Bank) commit(c *change) (done bool, err error) {
	if err := c.flush(); err != nil {
		return false, err
	}
	if len(c.gone) > 0 {
		c.root.garbage = append(c.root.garbage, garbage{c.root.generation, c.gone})
	}
	var old []string
	c.root.garbage = slices.DeleteFunc(c.root.garbage, func(g garbage) bool {
		late := g.generation+keepFor <= c.root.generation
		if late {
			old = append(old, g.names...)
		}
		return late
	})
	for i := range c.root.garbage { // what is written again is none
		g := &c.root.garbage[i]
		g.names = slices.DeleteFunc(slices.Clone(g.names), c.isWritten)
	}
	old = slices.DeleteFunc(old, c.isWritten)
	next := sealed.Write(c.root.generation, c.root.write())
	switch err := b.kv.Swap(b.prefix+rootName, b.stored, next); {
	case abi.CodeOf(err) == abi.CodeConflict:
		return false, nil
	case err != nil:
		return false, err
	}
	before := b.stored
	b.stored, b.root = next, c.root
	b.copyRoot(before)
	for _, name := range old {
		_ = b.kv.Delete(b.prefix + name) // what stays is found by a sweep
	}
	return true, nil
}

// copyRoot stores the root once more, in the place of an older copy, mostly that of the last root, so that it can
// be repaired: the newest memories stand nowhere else. The bank is whole without,
// and where it fails the host knows of it.
func (b *Bank) copyRoot(last string) {
	key := sealed.Copy(b.prefix + rootName)
	before, _, err := b.kv.Get(key)
	if err != nil {
		return
	}
	if before != last { // whose sum need not be made again
		if _, generation, err := sealed.Read(before); err == nil && generation > b.root.generation {
			return // another call's
		}
	}
	_ = b.kv.Swap(key, before, b.stored) // in a conflict another call has stored a newer one
}

func (c *change) isWritten(name string) bool { return c.written[name] }
