package rank

import (
	"iter"
	"slices"
)

// repeatShare is the share of its score that another passage of a found text has: what it says is
// mostly known from the first.
const repeatShare = 0.8

// Hit is a text that a search found, or a passage of it.
type Hit struct {
	Text  int     // its number
	Score float64 // over 0; comparable within one search
	// Start and End are the bytes of the text's body between which the passage stands that tells most
	// of the query. For a text that is not long that is all of it.
	Start, End int
}

// Search returns the texts that bear on the query, best first; of
// equals the earlier. With Near or Group these can be texts that share no word
// with it.
func (ix *Index) Search(query string, opts Options) []Hit {
	return slices.Collect(ix.Ranked(query, opts))
}

// Ranked yields what [Index.Search] returns, best first. It is for callers that do not know how many
// hits they want: putting all in order is half the time of a search.
func (ix *Index) Ranked(query string, opts Options) iter.Seq[Hit] {
	return func(yield func(Hit) bool) {
		hits := newSearch(ix, opts).hits(query)
		for i := len(hits)/2 - 1; i >= 0; i-- {
			hits.down(i)
		}
		for n := 0; len(hits) > 0 && (opts.Limit <= 0 || n < opts.Limit); n++ {
			best, last := hits[0], len(hits)-1
			hits[0] = hits[last]
			hits = hits[:last]
			hits.down(0)
			if !yield(best) {
				return
			}
		}
	}
}

// hits returns what the query finds, in no order.
func (s *search) hits(query string) (hits ranking) {
	for i, score := range s.rate(query) {
		if score <= 0 {
			continue
		}
		t := &s.texts[i]
		best := t.first
		for p := t.first; p < t.first+t.parts; p++ {
			if s.scores[p] > s.scores[best] {
				best = p
			}
		}
		hits = append(hits, s.hit(best, score))
		if !s.opts.Passages {
			continue
		}
		for p := t.first; p < t.first+t.parts; p++ {
			if p != best && s.scores[p] > 0 {
				hits = append(hits, s.hit(p, score*repeatShare*s.scores[p]/s.scores[best]))
			}
		}
	}
	return hits
}

func (ix *Index) hit(p int32, score float64) Hit {
	part := &ix.parts[p]
	return Hit{Text: int(part.text), Score: score, Start: int(part.start), End: int(part.end)}
}

// ranking is a heap of hits, the best in front. Package container/heap would box each hit.
type ranking []Hit

// down moves a hit behind those that come before it.
func (r ranking) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(r) {
			return
		}
		if child+1 < len(r) && r.less(child+1, child) {
			child++
		}
		if !r.less(child, i) {
			return
		}
		r[i], r[child] = r[child], r[i]
		i = child
	}
}

// less says which of two hits comes first: the better, of equals the earlier.
func (r ranking) less(i, j int) bool {
	a, b := &r[i], &r[j]
	return a.Score > b.Score || a.Score == b.Score && (a.Text < b.Text || a.Text == b.Text && a.Start < b.Start)
}
