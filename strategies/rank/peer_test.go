package rank_test

import (
	"cmp"
	"math"
	"slices"

	"github.com/kagewasm/kagewasm/strategies/rank"
)

// searcher finds turns, or passages of them, best first.
type searcher func(query string) []rank.Hit

// plain is BM25 as textbooks have it, k1 1.2 and b 0.75, over the same terms: what
// a ranking has to be better than.
type plain struct {
	places  []rank.Hit // of what is ranked
	lengths []float64
	average float64
	lists   map[string]map[int]float64
}

// plainTurns ranks the turns of a conversation, plainPassages the passages that
// an index cuts them into.
func plainTurns(c *conversation) searcher {
	p := new(plain)
	for i := range c.Turns {
		p.add(rank.Hit{Text: i, End: len(c.body(i))}, c.body(i)+" "+c.Turns[i].Date)
	}
	return p.search
}

func plainPassages(c *conversation) searcher {
	p, text, at := new(plain), -1, 0
	for part := range c.index().Parts() {
		if !part.Same {
			text, at = text+1, 0
		}
		end := at + int(part.Bytes)
		p.add(rank.Hit{Text: text, Start: at, End: end}, c.body(text)[at:end])
		at = end
	}
	return p.search
}

func (p *plain) add(place rank.Hit, text string) {
	n := len(p.places)
	p.places, p.lengths = append(p.places, place), append(p.lengths, 0)
	if p.lists == nil {
		p.lists = make(map[string]map[int]float64)
	}
	rank.Terms(text, func(term []byte, _, _ int) bool {
		list := p.lists[string(term)]
		if list == nil {
			list = make(map[int]float64)
			p.lists[string(term)] = list
		}
		list[n]++
		p.lengths[n]++
		return true
	})
	p.average += (p.lengths[n] - p.average) / float64(n+1)
}

func (p *plain) search(query string) []rank.Hit {
	const k1, b = 1.2, 0.75
	scores, seen := make([]float64, len(p.places)), make(map[string]bool)
	rank.Terms(query, func(term []byte, _, _ int) bool {
		if seen[string(term)] {
			return true
		}
		seen[string(term)] = true
		list := p.lists[string(term)]
		weight := math.Log(1 + (float64(len(p.places)-len(list))+0.5)/(float64(len(list))+0.5))
		for i, f := range list {
			scores[i] += weight * f * (k1 + 1) / (f + k1*(1-b+b*p.lengths[i]/p.average))
		}
		return true
	})
	var hits []rank.Hit
	for i, score := range scores {
		if hit := p.places[i]; score > 0 {
			hit.Score = score
			hits = append(hits, hit)
		}
	}
	slices.SortStableFunc(hits, func(a, b rank.Hit) int { return cmp.Compare(b.Score, a.Score) })
	return hits
}
