package bank

import (
	"slices"

	"github.com/kagewasm/kagewasm/strategies/rank"
)

// merge makes one segment of several in a row. Their texts stay where they are.
func merge(v *values, first int, list []segment) (segment, error) {
	var s segment
	var t table
	var cursors []*cursor
	known := writer(magic(knownKind))
	known.number(first)
	for i := range list {
		one, err := v.table(&list[i])
		if err != nil {
			return s, err
		}
		hashes, err := v.known(&list[i])
		if err != nil {
			return s, err
		}
		known = append(known, hashes...)
		from := lists{values: v, shards: one.shards, limit: len(one.parts)}
		cursors = append(cursors, &cursor{lists: from, offset: int32(len(t.parts))})
		t.addAll(&one.who)
		t.parts, t.cuts = append(t.parts, one.parts...), append(t.cuts, one.cuts...)
		t.blocks = append(t.blocks, one.blocks...)
		s.texts += list[i].texts
		s.weight += list[i].weight
	}
	w := newListWriter(v, first, s.texts)
	if err := mergeLists(w, cursors); err != nil {
		return s, err
	}
	t.shards = w.shards
	s.table, s.known = v.put(tableKind, t.write()), v.put(knownKind, string(known))
	return s, nil
}

// cursor goes through the lists of a segment, whose parts begin at offset in
// the segment that it becomes part of.
type cursor struct {
	lists
	offset int32
}

func mergeLists(w *listWriter, cursors []*cursor) error {
	live := cursors[:0:0]
	for _, c := range cursors {
		ok, err := c.next()
		if err != nil {
			return err
		}
		if ok {
			live = append(live, c)
		}
	}
	var merged []rank.Posting
	for len(live) > 0 {
		term := string(slices.MinFunc(live, func(a, b *cursor) int { return slices.Compare(a.term, b.term) }).term)
		merged = merged[:0]
		rest := live[:0]
		for _, c := range live {
			if string(c.term) == term {
				list, err := c.postings()
				if err != nil {
					return err
				}
				for _, p := range list {
					p.Part += c.offset
					merged = append(merged, p)
				}
				ok, err := c.next()
				if err != nil {
					return err
				}
				if !ok {
					continue
				}
			}
			rest = append(rest, c)
		}
		live = rest
		w.add(term, merged)
	}
	w.flush()
	return nil
}
