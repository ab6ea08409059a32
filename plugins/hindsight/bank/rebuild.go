package bank

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

// Remains are what is left of a bank that has lost its root, and the copy of it: the
// memories of its segments. The newest, up to 16 KiB of them, stood in the root alone.
type Remains struct {
	bank   *Bank
	values *values
	loose  []Memory // of segments that are not whole
	// Memories is how many there are.
	Memories int
}

// Salvage finds what is left of the bank whose keys begin with prefix, and changes
// nothing. The error is what the KV says.
func Salvage(kv KV, prefix string) (*Remains, error) {
	b := &Bank{kv: kv, prefix: prefix, root: &root{generation: 1}}
	var err error
	if b.stored, _, err = kv.Get(prefix + rootName); err != nil {
		return nil, err
	}
	left, end := &Remains{bank: b, values: b.values()}, 0
	parts, err := left.values.parts()
	if err != nil {
		return nil, err
	}
	// Segments that were merged lie where the merged one does, and begin no earlier.
	slices.SortFunc(parts, func(a, b part) int {
		return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(b.texts, a.texts))
	})
	known := make(map[hash]bool)
	for _, p := range parts {
		for i := range p.memories {
			known[p.memories[i].hash()] = true
		}
		if !p.whole || p.first < end {
			left.loose = append(left.loose, p.memories...)
			continue
		}
		end = p.first + p.texts
		p.known = left.values.put(knownKind, knownOf(p.first, p.memories))
		b.root.segments = append(b.root.segments, p.segment)
	}
	left.Memories = len(known)
	return left, nil
}

// Store makes the bank of what is left. The error is what the KV says, or an
// *abi.Error of CodeConflict where the bank has changed since.
func (r *Remains) Store() error {
	b, c := r.bank, change{values: r.values, root: r.bank.root}
	fresh, err := b.unknown(c.values, r.loose)
	if err != nil {
		return err
	}
	c.root.tail = fresh
	if err := c.settle(); err != nil {
		return err
	}
	if err := c.sweep(); err != nil {
		return err
	}
	done, err := b.commit(&c)
	if err == nil && !done {
		err = abi.KeyConflict(b.prefix + rootName)
	}
	return err
}

// part is what is left of a segment.
type part struct {
	segment
	first    int  // the number that its first text had in the bank
	whole    bool // and the segment can be used as it is
	memories []Memory
}

// parts are those of all segments of which there is a table.
func (v *values) parts() (parts []part, err error) {
	keys, err := v.kv.List(v.prefix)
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		name := strings.TrimPrefix(key, v.prefix)
		if !isName(name) || name[0] != tableKind {
			continue
		}
		p, err := v.part(name)
		switch {
		case abi.CodeOf(err) == abi.CodeState:
		case err != nil:
			return nil, err
		case len(p.memories) > 0:
			parts = append(parts, p)
		}
	}
	return parts, nil
}

// part reads what is left of the segment with that table.
func (v *values) part(name string) (p part, err error) {
	if _, err := v.sound(name); err != nil {
		return p, err
	}
	var t *table
	if err := v.parse(name, func(r *reader) { t = readTable(r) }); err != nil {
		return p, err
	}
	p = part{segment: segment{table: name, texts: len(t.labelOf)}, whole: true}
	for _, s := range t.shards {
		_, err := v.sound(s.name)
		if err != nil && abi.CodeOf(err) != abi.CodeState {
			return p, err
		}
		p.whole = p.whole && err == nil
	}
	sessions := make([]string, 0, p.texts)
	for _, r := range t.runs {
		sessions = append(sessions, slices.Repeat([]string{t.sessions[r.session]}, int(r.texts))...)
	}
	at := 0
	for _, b := range t.blocks {
		value, err := v.sound(b.name)
		if err != nil && abi.CodeOf(err) != abi.CodeState {
			return p, err
		}
		w := wordsReader{reader: newReader(b.name, value)}
		if first := w.number(); w.err == nil {
			p.first = first - at
		}
		for i := at; i < at+b.texts; i++ {
			words := w.next()
			if w.err != nil {
				p.whole = false
				break
			}
			m := Memory{Session: sessions[i]}
			t.labels[t.labelOf[i]].set(&m)
			words.set(&m)
			p.memories = append(p.memories, m)
		}
		at += b.texts
	}
	for list := p.memories; len(list) > 0; {
		n, weight := fits(list)
		p.weight, list = p.weight+weight, list[n:]
	}
	return p, nil
}
