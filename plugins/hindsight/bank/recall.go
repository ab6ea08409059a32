package bank

import (
	"maps"
	"slices"

	"github.com/kagewasm/kagewasm/strategies/rank"
)

const (
	// defaultLimit is how many hits a recall returns where nothing is said.
	defaultLimit = 10
	// maxTerms is how many different terms of a query are looked for.
	maxTerms = 128
	// maxBlocks is how many values with texts a recall reads: what was not
	// wanted in those is not made up for.
	maxBlocks = 1024
)

// Query says what to recall.
type Query struct {
	// Text is what to look for: a question, or words. Its first 128 different
	// terms count.
	Text string
	// Time is when it is asked.
	Time string
	// Limit is how many hits to return at most. Default 10.
	Limit int
	// TextBytes is how long the text of one hit may be: a longer one is cut to
	// the passage that tells most of the query, and further passages of it are
	// hits of their own. Default any length.
	TextBytes int
	// Types and Tags, where there are any, are those of which a hit must
	// have one.
	Types, Tags []string
	// Skip reports that a memory is not wanted, as what is still in the
	// context. Default none.
	Skip func(*Memory) bool
}

// Hit is a memory that was found, or a passage of a long one.
type Hit struct {
	Memory
	// Start is where a passage begins in the memory's text, and Length how long
	// that is, in bytes; 0 where Text is all of it.
	Start, Length int
	// Score is over 0, and comparable within one recall.
	Score float64
}

// Recall returns the memories that have to do with the query, best first. The
// error is what the KV says, or an *abi.Error of CodeState where a value is
// not what was written.
func (b *Bank) Recall(q Query) ([]Hit, error) {
	hits, err := b.recall(q)
	if err != nil && b.stale(err) {
		return b.recall(q)
	}
	return hits, err
}

func (b *Bank) recall(q Query) ([]Hit, error) {
	if q.Limit <= 0 {
		q.Limit = defaultLimit
	}
	query, terms := queryTerms(q.Text + " " + days(q.Text, moment(q.Time)))
	if len(terms) == 0 {
		return nil, nil
	}
	o, err := b.open(terms)
	if err != nil {
		return nil, err
	}
	return o.hits(q, query)
}

// queryTerms are the terms of a query, sorted, and as much of it as has them.
func queryTerms(text string) (string, []string) {
	set := make(map[string]bool)
	end := len(text)
	rank.Terms(text, func(term []byte, start, _ int) bool {
		if !set[string(term)] && len(set) == maxTerms {
			end = start
			return false
		}
		set[string(term)] = true
		return true
	})
	return text[:end], slices.Sorted(maps.Keys(set))
}

// opened is as much of a bank as a query needs.
type opened struct {
	*values
	root   *root
	tables []*table // of the segments
	index  rank.Index
	blocks map[string][]words // that were read
}

// open reads the tables, and the posting lists of those terms.
func (b *Bank) open(terms []string) (*opened, error) {
	o := &opened{values: b.values(), root: b.root, blocks: make(map[string][]words)}
	parts := 0
	for i := range b.root.segments {
		t, err := o.table(&b.root.segments[i])
		if err != nil {
			return nil, err
		}
		o.tables = append(o.tables, t)
		parts += len(t.parts)
	}
	o.index.Grow(parts, b.Len())
	for _, t := range o.tables {
		if err := o.addTerms(t, terms); err != nil {
			return nil, err
		}
	}
	o.index.Only(terms)
	var said when
	for i := range b.root.tail {
		o.index.Add(b.root.tail[i].indexed(&said))
	}
	return o, nil
}

// addTerms adds the texts of a segment to the index, with those terms.
func (o *opened) addTerms(t *table, terms []string) error {
	offset := o.index.PartCount()
	t.index(&o.index)
	l := lists{values: o.values, shards: t.shards, limit: len(t.parts)}
	for _, term := range terms {
		found, err := l.find(term)
		if err != nil {
			return err
		}
		if found {
			list, err := l.postings()
			if err != nil {
				return err
			}
			o.index.AddList(term, list, offset)
		}
	}
	return nil
}

// hits are the memories that the query finds, as far as they are wanted.
func (o *opened) hits(q Query, query string) (hits []Hit, err error) {
	opts, whole := rank.Conversation(), make(map[int]bool)
	opts.Passages = q.TextBytes > 0
	var m Memory // one for all: Skip is given its address
	for h := range o.index.Ranked(query, opts) {
		if len(hits) == q.Limit || len(o.blocks) > maxBlocks {
			break
		}
		if whole[h.Text] {
			continue
		}
		var wanted bool
		if m, wanted, err = o.memory(h.Text, &q); err != nil {
			return nil, err
		}
		if !wanted || q.Skip != nil && q.Skip(&m) {
			continue
		}
		hit := Hit{Memory: m, Score: h.Score}
		if whole[h.Text] = q.TextBytes == 0 || len(m.Text) <= q.TextBytes; !whole[h.Text] {
			hit.Length = len(m.Text)
			hit.Text, hit.Start = o.passage(m.Text, query, h, q.TextBytes)
		}
		hits = append(hits, hit)
	}
	return hits, nil
}

// passage is that of a hit, of at most size bytes, and where it begins. What an
// earlier version stored does not say where: all of the text is looked through.
func (o *opened) passage(text, query string, h rank.Hit, size int) (string, int) {
	start, end := min(h.Start, len(text)), min(h.End, len(text))
	if start < 0 || start >= end {
		start, end = 0, len(text)
	}
	from, to := o.index.Passage(text[start:end], query, size)
	return text[start+from : start+to], start + from
}

// memory reads a text, unless its label says that it is not wanted.
func (o *opened) memory(n int, q *Query) (m Memory, wanted bool, err error) {
	for i, t := range o.tables {
		if texts := o.root.segments[i].texts; n >= texts {
			n -= texts
			continue
		}
		t.labels[t.labelOf[n]].set(&m)
		if !q.wants(&m) {
			return m, false, nil
		}
		m.Session = t.session(n)
		w, err := o.words(t, n)
		w.set(&m)
		return m, true, err
	}
	m = o.root.tail[n]
	return m, q.wants(&m), nil
}

func (q *Query) wants(m *Memory) bool {
	return (len(q.Types) == 0 || slices.Contains(q.Types, m.Type)) &&
		(len(q.Tags) == 0 || slices.ContainsFunc(m.Tags, func(t string) bool { return slices.Contains(q.Tags, t) }))
}

// words reads what a block says of a text of a segment.
func (o *opened) words(t *table, n int) (words, error) {
	i := 0
	for n >= t.blocks[i].texts {
		n -= t.blocks[i].texts
		i++
	}
	block := t.blocks[i]
	list, ok := o.blocks[block.name]
	if !ok {
		var err error
		if list, err = o.block(block); err != nil {
			return words{}, err
		}
		o.blocks[block.name] = list
	}
	return list[n], nil
}

// block reads all of a block: where one of its texts is wanted there are often more.
func (v *values) block(b block) ([]words, error) {
	r, err := v.read(b.name)
	if err != nil {
		return nil, err
	}
	w := wordsReader{reader: r}
	w.number() // the first text
	list := make([]words, b.texts)
	for i := range list {
		list[i] = w.next()
	}
	if w.err != nil {
		return nil, v.corrupt(b.name, w.err.Error())
	}
	return list, nil
}
