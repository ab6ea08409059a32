package bank

import (
	"sort"

	"github.com/kagewasm/kagewasm/strategies/rank"
)

// shardBytes is how long a value with posting lists becomes before the next
// one is begun.
const shardBytes = 4 << 10

// listWriter writes posting lists, given sorted by term, into shards.
type listWriter struct {
	values *values
	salt   writer // makes values of different segments differ
	shards []shard
	out    writer
	body   writer // of the list that was added last
	first  string
	last   string
}

func (w *listWriter) add(term string, list []rank.Posting) {
	if len(w.out) == 0 {
		w.out = append(append(w.out, magic(listKind)...), w.salt...)
		w.first, w.last = term, ""
	}
	n := common(term, w.last)
	w.out.number(n)
	w.out.text(term[n:])
	w.body = w.body[:0]
	writeList(&w.body, list)
	w.out.number(len(w.body))
	w.out = append(w.out, w.body...)
	if w.last = term; len(w.out) >= shardBytes {
		w.flush()
	}
}

func (w *listWriter) flush() {
	if len(w.out) > 0 {
		w.shards = append(w.shards, shard{w.first, w.values.put(listKind, string(w.out))})
		w.out = w.out[:0]
	}
}

// writeList writes the distances between the parts, times two, plus one where
// the term stands in it more than once, which is said behind.
func writeList(w *writer, list []rank.Posting) {
	next := int32(0)
	for _, p := range list {
		gap := int(p.Part-next) << 1
		if p.Count > 1 {
			w.number(gap | 1)
			w.number(int(p.Count - 2))
		} else {
			w.number(gap)
		}
		next = p.Part + 1
	}
}

// readList reads a list of parts under limit.
func readList(s string, limit int) ([]rank.Posting, error) {
	r := reader{in: s}
	list := make([]rank.Posting, 0, len(s)/2+1)
	next := 0
	for r.pos < len(r.in) {
		gap, count := r.number(), 1
		if gap&1 != 0 {
			count = r.number() + 2
		}
		if next += gap >> 1; next >= limit {
			r.fail("a part that is not there")
		}
		if r.err != nil {
			return nil, r.err
		}
		list = append(list, rank.Posting{Part: int32(next), Count: int32(count)})
		next++
	}
	return list, r.err
}

// lists goes through posting lists in the order of their terms.
type lists struct {
	values *values
	shards []shard // that are still to be read
	limit  int     // of parts
	r      *reader
	name   string // of what r reads
	term   []byte
	list   string
}

// next goes to the next term, or reports that there is none.
func (l *lists) next() (bool, error) {
	for l.r == nil || l.r.pos == len(l.r.in) {
		if len(l.shards) == 0 {
			return false, nil
		}
		if err := l.open(); err != nil {
			return false, err
		}
	}
	n := min(l.r.below(len(l.term)+1), len(l.term))
	rest := l.r.text()
	if rest == "" || rest <= string(l.term[n:]) {
		l.r.fail("terms out of order") // where they are in order, they differ in what follows
	}
	l.term = append(l.term[:n], rest...)
	l.list = l.r.text()
	return true, l.failed(l.r.err)
}

// open opens the next shard.
func (l *lists) open() (err error) {
	l.name, l.shards = l.shards[0].name, l.shards[1:]
	if l.r, err = l.values.read(l.name); err != nil {
		return err
	}
	l.r.number() // the salt
	l.r.number()
	l.term = l.term[:0]
	return l.failed(l.r.err)
}

func (l *lists) failed(err error) error {
	if err == nil {
		return nil
	}
	return l.values.corrupt(l.name, err.Error())
}

// postings is the list that next went to.
func (l *lists) postings() ([]rank.Posting, error) {
	list, err := readList(l.list, l.limit)
	return list, l.failed(err)
}

// find goes to a term, not before those of earlier finds, or reports that
// there is none. Shards between are not read.
func (l *lists) find(term string) (bool, error) {
	skip := sort.Search(len(l.shards), func(i int) bool { return l.shards[i].first > term })
	if skip > 0 {
		l.shards = l.shards[skip-1:]
		if err := l.open(); err != nil {
			return false, err
		}
	}
	for l.r != nil && l.r.pos < len(l.r.in) && string(l.term) < term {
		if _, err := l.next(); err != nil {
			return false, err
		}
	}
	return string(l.term) == term, nil
}
