package bank

import (
	"slices"

	"github.com/kagewasm/kagewasm/strategies/rank"
)

const (
	// blockBytes is how long a value with texts becomes before the next one is
	// begun.
	blockBytes = 8 << 10
	// baseWeight is the weight from which on texts become a segment, and
	// fanOut how many segments of about one weight become one.
	baseWeight = 16 << 10
	fanOut     = 4
	maxLevel   = 3
	// maxWeight is the weight of the largest segments that are made at once.
	// Four times it still fits the values a host stores.
	maxWeight = 1 << 20
	// frameWeight and nameWeight are what a memory weighs beside its text: by
	// itself, and for each byte of its other fields.
	frameWeight, nameWeight = 64, 2
)

// segment is an index of some texts in a row.
type segment struct {
	table, known string // names of values
	texts        int
	weight       int
}

// weight is about how much space a memory takes.
func (m *Memory) weight() int {
	n := len(m.ID) + len(m.Session) + len(m.Author) + len(m.Time) + len(m.Type)
	for _, t := range m.Tags {
		n += len(t)
	}
	return len(m.Text) + nameWeight*n + frameWeight
}

// level is how often segments of the least weight were merged into one of this.
func (s *segment) level() int {
	l := 0
	for w := s.weight; w >= fanOut*baseWeight && l < maxLevel; w /= fanOut {
		l++
	}
	return l
}

// build makes a segment of memories, the first of which is that number of the
// bank.
func build(v *values, first int, list []Memory) segment {
	s := segment{texts: len(list)}
	var t table
	ix := new(rank.Index)
	known := writer(magic(knownKind))
	known.number(first)
	for i := range list {
		m := &list[i]
		t.add(m.Session, m.label())
		ix.Add(m.indexed())
		h := m.hash()
		known = append(known, h[:]...)
		s.weight += m.weight()
	}
	for p := range ix.Parts() {
		t.parts = append(t.parts, partOf(p))
	}
	w := newListWriter(v, first, len(list))
	for term, postings := range ix.Lists() {
		w.add(term, postings)
	}
	w.flush()
	t.shards, t.blocks = w.shards, buildBlocks(v, first, list)
	s.table, s.known = v.put(tableKind, t.write()), v.put(knownKind, string(known))
	return s
}

func newListWriter(v *values, first, texts int) *listWriter {
	w := &listWriter{values: v}
	w.salt.number(first)
	w.salt.number(texts)
	return w
}

func buildBlocks(v *values, first int, list []Memory) (blocks []block) {
	var w writer
	var before words
	n := 0
	for i := range list {
		if n == 0 {
			w, before = append(w[:0], magic(wordsKind)...), words{}
			w.number(first + i)
		}
		m := words{list[i].ID, list[i].Time, list[i].Text}
		writeWords(&w, m, before)
		n, before = n+1, m
		if len(w) >= blockBytes || i == len(list)-1 {
			blocks = append(blocks, block{n, v.put(wordsKind, string(w))})
			n = 0
		}
	}
	return blocks
}

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
		cursors = append(cursors, &cursor{lists: lists{values: v, shards: one.shards, limit: len(one.parts)}, offset: int32(len(t.parts))})
		t.addAll(&one.who)
		t.parts = append(t.parts, one.parts...)
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
	advance := func(c *cursor) (bool, error) { return c.next() }
	live := cursors[:0:0]
	for _, c := range cursors {
		ok, err := advance(c)
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
				ok, err := advance(c)
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

// table reads the table of a segment.
func (v *values) table(s *segment) (*table, error) {
	r, err := v.read(s.table)
	if err != nil {
		return nil, err
	}
	t := readTable(r)
	if len(t.labelOf) != s.texts {
		r.fail("not as many texts as the root says")
	}
	if err := r.end(); err != nil {
		return nil, v.corrupt(s.table, err.Error())
	}
	return t, nil
}

// known reads the hashes of what a segment holds, one behind the other.
func (v *values) known(s *segment) (string, error) {
	r, err := v.read(s.known)
	if err != nil {
		return "", err
	}
	r.number() // the first text
	hashes := r.bytes(s.texts * hashBytes)
	if err := r.end(); err != nil {
		return "", v.corrupt(s.known, err.Error())
	}
	return hashes, nil
}
