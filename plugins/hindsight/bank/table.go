package bank

import "github.com/kagewasm/kagewasm/strategies/rank"

// table is what a segment has beside its lists and texts: all that ranking
// needs of each text, and where the rest is.
type table struct {
	who
	parts  []int32 // see partOf
	cuts   []int32 // where texts are cut: bytes of each part that another one of its text follows
	shards []shard // of posting lists, sorted
	blocks []block // of texts, in order

	last int32 // bytes of the part that was added last
}

// partOf is a part without its names: its length, times two, plus one where it is
// of the same text as the one before it.
func partOf(p rank.Part) int32 {
	if p.Same {
		return p.Length<<1 | 1
	}
	return p.Length << 1
}

// addPart adds a part of a text.
func (t *table) addPart(p rank.Part) {
	if p.Same {
		t.cuts = append(t.cuts, t.last)
	}
	t.parts, t.last = append(t.parts, partOf(p)), p.Bytes
}

// shard is a value with posting lists, from that of its first term on.
type shard struct{ first, name string }

// block is a value with that many texts.
type block struct {
	texts int
	name  string
}

func (t *table) write() string {
	w := writer(magic(tableKind))
	t.who.write(&w)
	w.column(t.parts)
	w.number(len(t.shards))
	for _, s := range t.shards {
		w.text(s.first)
		w = append(w, s.name...)
	}
	w.number(len(t.blocks))
	for _, b := range t.blocks {
		w.number(b.texts)
		w = append(w, b.name...)
	}
	w.column(t.cuts)
	return string(w)
}

func readTable(r *reader) (t *table) {
	t = &table{who: readWho(r)}
	t.parts = r.column(4 * MaxTextBytes)
	starts := 0
	for _, p := range t.parts {
		starts += int(1 - p&1)
	}
	if len(t.parts) > 0 && t.parts[0]&1 != 0 || starts != len(t.labelOf) {
		r.fail("parts that are of no text")
	}
	t.shards = make([]shard, r.count(1+nameBytes))
	for i := range t.shards {
		t.shards[i] = shard{r.text(), r.name(listKind)}
		if i > 0 && t.shards[i].first <= t.shards[i-1].first {
			r.fail("terms out of order")
		}
	}
	t.blocks = make([]block, r.count(1+nameBytes))
	texts := 0
	for i := range t.blocks {
		t.blocks[i] = block{r.number(), r.name(wordsKind)}
		texts += t.blocks[i].texts
	}
	if texts != len(t.labelOf) {
		r.fail("texts without a place")
	}
	t.cuts = make([]int32, len(t.parts)-starts)
	if r.pos == len(r.in) {
		return t // an earlier version did not say where it cut
	}
	if t.cuts = r.column(MaxTextBytes + 1); len(t.cuts) != len(t.parts)-starts {
		r.fail("not as many cuts as parts")
	}
	return t
}

// index adds the texts to an index, without their terms.
func (t *table) index(ix *rank.Index) {
	authors := make([]int32, len(t.labels))
	for i := range t.labels {
		authors[i] = ix.Author(t.labels[i].author)
	}
	text, at, left, cuts := -1, 0, int32(0), t.cuts
	var p rank.Part
	for i, tp := range t.parts {
		p.Length, p.Same, p.Bytes = tp>>1, tp&1 != 0, MaxTextBytes // the last one of a text goes to its end
		if i+1 < len(t.parts) && t.parts[i+1]&1 != 0 {
			p.Bytes, cuts = cuts[0], cuts[1:]
		}
		if !p.Same {
			text++
			for left == 0 {
				p.Group, left = ix.Group(t.sessions[t.runs[at].session]), t.runs[at].texts
				at++
			}
			p.Author = authors[t.labelOf[text]]
			left--
		}
		ix.AddPart(p)
	}
}
