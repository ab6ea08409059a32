package bank

import (
	"slices"

	"github.com/kagewasm/kagewasm/abi"
)

// tries is how often a change is tried because somebody else changed the bank
// meanwhile.
const tries = 4

// Retain adds memories, in the order they were said, and returns how many it
// added. What is known, by session, author and text, is passed over. Either all
// are added or, where there is an error, none. The error is what the KV says,
// or an *abi.Error: CodeState where a value is not what was written,
// CodeConflict where others change the bank all the time.
func (b *Bank) Retain(list []Memory) (added int, err error) {
	for range tries {
		added, done, err := b.retain(list)
		if err != nil && b.stale(err) {
			continue
		}
		if done || err != nil {
			return added, err
		}
		if err := b.load(); err != nil {
			return 0, err
		}
	}
	return 0, &abi.Error{
		Code: abi.CodeConflict, Op: "bank", Message: b.prefix + ": others change it at the same time", Hint: "try again",
	}
}

// retain adds memories to the bank as it was read, unless it was changed.
func (b *Bank) retain(list []Memory) (added int, done bool, err error) {
	v := b.values()
	fresh, err := b.unknown(v, list)
	if err != nil || len(fresh) == 0 {
		return 0, true, err
	}
	if b.stored == "" {
		if first, err := b.begin(); !first {
			return 0, false, err
		}
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
