package bank

import (
	"maps"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

const (
	// keepFor is for how many changes of the bank values are kept that it does
	// not name any more.
	keepFor = 8
	// sweepEvery is after how many changes values are looked for that nothing
	// names.
	sweepEvery = 64
	// tries is how often a change is made anew because somebody else changed
	// the bank meanwhile.
	tries = 4
)

// Retain adds memories, in the order they were said, and returns how many it
// added. What is known, by session, author and text, is passed over. Either all
// are added or, where there is an error, none. The error is what the KV says,
// or an *abi.Error: CodeBadInput where a value is not what was written,
// CodeConflict where others change the bank all the time.
func (b *Bank) Retain(list []Memory) (added int, err error) {
	for range tries {
		added, done, err := b.retain(list)
		if done || err != nil {
			return added, err
		}
		if err := b.load(); err != nil {
			return 0, err
		}
	}
	return 0, &abi.Error{Code: abi.CodeConflict, Op: "bank", Message: b.prefix + ": others change it at the same time", Hint: "try again"}
}

// retain adds memories to the bank as it was read, unless it was changed.
func (b *Bank) retain(list []Memory) (added int, done bool, err error) {
	v := b.values()
	fresh, err := b.unknown(v, list)
	if err != nil || len(fresh) == 0 {
		return 0, true, err
	}
	next := &root{
		generation: b.root.generation + 1,
		segments:   slices.Clone(b.root.segments),
		garbage:    slices.Clone(b.root.garbage),
		tail:       slices.Concat(b.root.tail, fresh),
	}
	c := change{values: v, root: next}
	if err := c.settle(); err != nil {
		return 0, false, err
	}
	if next.generation%sweepEvery == 0 {
		if err := c.sweep(); err != nil {
			return 0, false, err
		}
	}
	done, err = b.commit(&c)
	return len(fresh), done, err
}

// unknown are the memories that the bank does not have, as they are kept.
func (b *Bank) unknown(v *values, list []Memory) ([]Memory, error) {
	wanted := make(map[hash]bool, len(list))
	kept, hashes := make([]Memory, len(list)), make([]hash, len(list))
	for i := range list {
		kept[i] = list[i].kept()
		hashes[i] = kept[i].hash()
		wanted[hashes[i]] = true
	}
	for i := range b.root.tail {
		delete(wanted, b.root.tail[i].hash())
	}
	for i := range b.root.segments {
		known, err := v.known(&b.root.segments[i])
		if err != nil {
			return nil, err
		}
		for ; known != ""; known = known[hashBytes:] {
			delete(wanted, hash([]byte(known[:hashBytes])))
		}
	}
	fresh := kept[:0]
	for i := range kept {
		if wanted[hashes[i]] {
			delete(wanted, hashes[i])
			fresh = append(fresh, kept[i])
		}
	}
	return fresh, nil
}

// change is what becomes of a bank.
type change struct {
	*values
	root *root
	gone []string // values that it names no more
}

// settle makes segments of the tail where it is long, and few of many.
func (c *change) settle() error {
	weight := 0
	for i := range c.root.tail {
		weight += c.root.tail[i].weight()
	}
	if weight < baseWeight {
		return nil
	}
	for list := c.root.tail; len(list) > 0; {
		n, weight := 0, 0
		for n < len(list) && (n == 0 || weight+list[n].weight() <= maxWeight) {
			weight += list[n].weight()
			n++
		}
		c.root.segments = append(c.root.segments, build(c.values, c.root.texts(), list[:n]))
		list = list[n:]
		if err := c.mergeLast(); err != nil {
			return err
		}
	}
	c.root.tail = nil
	return nil
}

// mergeLast merges the last segment with those before it while they are
// smaller, or as many of its level as make one of the next.
func (c *change) mergeLast() error {
	for {
		list := c.root.segments
		level := list[len(list)-1].level()
		from := len(list) - 1
		for from > 0 && list[from-1].level() < level {
			from--
		}
		if from == len(list)-1 {
			for from > 0 && list[from-1].level() == level {
				from--
			}
			if len(list)-from < fanOut || level == maxLevel {
				return nil
			}
		}
		one, err := merge(c.values, c.root.texts()-count(list[from:]), list[from:])
		if err != nil {
			return err
		}
		for i := range list[from:] {
			if err := c.drop(&list[from+i]); err != nil {
				return err
			}
		}
		c.root.segments = append(list[:from], one)
	}
}

func count(list []segment) (texts int) {
	for _, s := range list {
		texts += s.texts
	}
	return texts
}

// drop notes what only a segment names: all but its texts.
func (c *change) drop(s *segment) error {
	t, err := c.table(s)
	if err != nil {
		return err
	}
	c.forget(s.table)
	c.forget(s.known)
	for _, shard := range t.shards {
		c.forget(shard.name)
	}
	return nil
}

// forget notes that a value is not named any more.
func (c *change) forget(name string) {
	if _, unstored := c.pending[name]; unstored {
		delete(c.pending, name)
		return
	}
	c.gone = append(c.gone, name)
}

// sweep notes the values that a writer which broke off has left.
func (c *change) sweep() error {
	named := make(map[string]bool)
	for _, n := range c.gone {
		named[n] = true
	}
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

// commit stores new values first and then the root that names them, unless the
// root was changed meanwhile; then done is false. What older roots named goes
// last, and late.
func (b *Bank) commit(c *change) (done bool, err error) {
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
		g.names = slices.DeleteFunc(slices.Clone(g.names), c.isPending)
	}
	old = slices.DeleteFunc(old, c.isPending)
	for _, name := range slices.Sorted(maps.Keys(c.pending)) {
		if err := b.kv.Set(b.prefix+name, c.pending[name]); err != nil {
			return false, err
		}
	}
	stored, _, err := b.kv.Get(b.prefix + rootName)
	if err != nil || stored != b.stored {
		return false, err
	}
	next := c.root.write()
	if err := b.kv.Set(b.prefix+rootName, next); err != nil {
		return false, err
	}
	b.stored, b.root = next, c.root
	for _, name := range old {
		if err := b.kv.Delete(b.prefix + name); err != nil {
			return true, err
		}
	}
	return true, nil
}

func (c *change) isPending(name string) bool {
	_, ok := c.pending[name]
	return ok
}
