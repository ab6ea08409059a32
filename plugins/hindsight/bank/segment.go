package bank

import "github.com/kagewasm/kagewasm/strategies/rank"

const (
	// blockBytes is how long a value with texts becomes before the next one is
	// begun.
	blockBytes = 16 << 10
	// baseWeight is the weight from which on texts become a segment, and
	// fanOut how many segments of about one weight become one.
	baseWeight = 16 << 10
	fanOut     = 4
	maxLevel   = 3
	// maxWeight is the weight of the largest segments that are made at once.
	// Three times it still fits the values that a host stores.
	maxWeight = 2 << 20
	// frameWeight is what a memory weighs beside its text, and nameWeight what
	// each byte of a session, an author, a type and a tag does: they all stand
	// in one value.
	frameWeight, nameWeight = 80, 8
)

// segment is an index of some texts in a row.
type segment struct {
	table, known string // names of values
	texts        int
	weight       int
}

// weight is about how much space a memory takes beside its names.
func (m *Memory) weight() int { return len(m.ID) + len(m.Time) + len(m.Text) + frameWeight }

// fits is how many of the memories fit a segment, at least one, and what they
// weigh. A name weighs once.
func fits(list []Memory) (n, weight int) {
	sessions, labels := make(map[string]bool), make(map[labelKey]bool)
	for i := range list {
		m := &list[i]
		w, label := m.weight(), m.label()
		if !sessions[m.Session] {
			sessions[m.Session] = true
			w += nameWeight * len(m.Session)
		}
		if key := label.key(); !labels[key] {
			labels[key] = true
			w += nameWeight * (len(key.author) + len(key.kind) + len(key.tags))
		}
		if i > 0 && weight+w > maxWeight {
			break
		}
		n, weight = i+1, weight+w
	}
	return n, weight
}

// level is how often segments of the least weight were merged into one of this.
func (s *segment) level() int {
	l := 0
	for w := s.weight; w >= fanOut*baseWeight && l < maxLevel; w /= fanOut {
		l++
	}
	return l
}

// build makes a segment of as many memories as fit; the first is that number of
// the bank.
func build(v *values, first int, list []Memory) segment {
	n, weight := fits(list)
	list = list[:n]
	s := segment{texts: n, weight: weight}
	var t table
	ix := new(rank.Index)
	ix.Grow(0, len(list))
	var said when
	for i := range list {
		m := &list[i]
		t.add(m.Session, m.label())
		ix.Add(m.indexed(&said))
	}
	for p := range ix.Parts() {
		t.addPart(p)
	}
	w := newListWriter(v, first, len(list))
	for term, postings := range ix.Lists() {
		w.add(term, postings)
	}
	w.flush()
	t.shards, t.blocks = w.shards, buildBlocks(v, first, list)
	s.table, s.known = v.put(tableKind, t.write()), v.put(knownKind, knownOf(first, list))
	return s
}

// knownOf is the value by which memories are known; the first is that number of the
// bank.
func knownOf(first int, list []Memory) string {
	known := writer(magic(knownKind))
	known.number(first)
	for i := range list {
		h := list[i].hash()
		known = append(known, h[:]...)
	}
	return string(known)
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
		before = before.write(&w, list[i].words())
		n++
		if len(w) >= blockBytes || i == len(list)-1 {
			blocks = append(blocks, block{n, v.put(wordsKind, string(w))})
			n = 0
		}
	}
	return blocks
}

// table reads the table of a segment.
func (v *values) table(s *segment) (*table, error) {
	var t *table
	err := v.parse(s.table, func(r *reader) {
		if t = readTable(r); len(t.labelOf) != s.texts {
			r.fail("not as many texts as the root says")
		}
	})
	return t, err
}

// known reads the hashes of what a segment holds, one behind the other.
func (v *values) known(s *segment) (hashes string, err error) {
	err = v.parse(s.known, func(r *reader) {
		r.number() // the first text
		hashes = r.bytes(s.texts * hashBytes)
	})
	return hashes, err
}
