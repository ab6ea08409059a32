package rank

import (
	"cmp"
	"math"
	"slices"
)

const (
	// K1 is how soon more of the same word counts no more, and B how much a
	// long text has to hold more of it. These are the defaults of the Anserini
	// toolkit, and fit short texts better than the common 1.2 and 0.75.
	K1 = 0.9
	B  = 0.4
)

const (
	// reach is how far a text's surroundings go, in texts to either side.
	reach = 2
	// groupBest is how many texts speak for a group.
	groupBest = 3
	// fewTerms are so few that a text takes but half of what its surroundings
	// give: "yes, sure" says nothing, whatever is said around it.
	fewTerms = 4
)

// Options of a search. The zero value is plain BM25.
type Options struct {
	// Limit is how many hits to return at most. Default all.
	Limit int
	// Near is what a word in the text before or after counts, one in the text
	// itself being 1; two texts away it counts Near*Near. It counts less in a
	// text of a few words, and from a long one. Surroundings end where the
	// group does. From 0 to 1; default 0.
	Near float64
	// Group adds to each text's score this many times the mean of the best
	// three of its group. Default 0.
	Group float64
	// Author adds this share to the score of texts whose author's name, or a
	// word of it, is in the query; the name itself then counts for nothing, as
	// it stands in what others say to its bearer. Default 0.
	Author float64
	// Recency adds this share to the score of the newest text, and less in
	// proportion to those before it. Default 0.
	Recency float64
}

// Conversation returns the options for texts that are the messages of
// conversations, in order.
func Conversation() Options { return Options{Near: 0.5, Group: 1, Author: 0.5} }

// Hit is a text that was found.
type Hit struct {
	Text  int     // its number
	Score float64 // over 0; comparable within one search
}

// Search returns the texts that have to do with the query, best first; of
// equals the earlier. With Near or Group these can be texts that share no word
// with it.
func (ix *Index) Search(query string, opts Options) []Hit {
	s := search{Index: ix, opts: opts, scores: make([]float64, len(ix.parts)), own: make([]float64, len(ix.parts)), given: make([]float64, len(ix.texts)), held: make([]bool, len(ix.texts))}
	terms := ix.query(query)
	named := s.named(terms)
	for _, term := range s.withoutNames(terms, named) {
		s.add(term)
	}
	s.best()
	s.favour(named)
	s.share()
	var hits []Hit
	for i, score := range s.scores {
		if score > 0 {
			hits = append(hits, Hit{i, score})
		}
	}
	slices.SortFunc(hits, func(a, b Hit) int { return cmp.Or(cmp.Compare(b.Score, a.Score), a.Text-b.Text) })
	if opts.Limit > 0 && len(hits) > opts.Limit {
		hits = hits[:opts.Limit]
	}
	return hits
}

type search struct {
	*Index
	opts   Options
	scores []float64 // by part, then by text
	own    []float64 // of one term
	given  []float64 // of one term, by text
	held   []bool
}

var ShareShort = true
var ShareFew = 1.0
var LenDisc = false
var RecvNorm, ShareNorm = 0., 0.
var SkipShort = true
var Rest = 0.5
var RestNorm = true
var TextDF = false

// add adds what a term gives to the scores.
func (s *search) add(term int32) {
	var held []int // texts of which the term counts
	list := s.lists[term]
	texts := 0
	hold := func(i int) {
		if !s.held[i] {
			s.held[i] = true
			held = append(held, i)
		}
	}
	for len(list) > 0 {
		from := int(s.parts[list[0].Part].text)
		texts++
		count, k := 0.0, 0
		for k < len(list) && int(s.parts[list[k].Part].text) == from {
			s.own[list[k].Part] = float64(list[k].Count)
			count += float64(list[k].Count)
			k++
		}
		list = list[k:]
		given := count / s.norm(float64(s.texts[from].length))
		hold(from)
		s.around(from, func(i int, share float64) {
			if i == from {
				return
			}
			hold(i)
			s.given[i] += share * given
		})
	}
	weight := s.weight(term)
	if TextDF {
		n := float64(texts)
		weight = math.Log(1 + (float64(len(s.texts))-n+0.5)/(n+0.5))
	}
	for _, i := range held {
		first, end := s.span(i)
		g := s.given[i]
		s.given[i], s.held[i] = 0, false
		total := 0.0
		for p := first; p < end; p++ {
			total += s.own[p]
		}
		for p := first; p < end; p++ {
			c := s.own[p]
			length := float64(s.parts[p].length)
			f := c + g*length/(length+fewTerms)/math.Pow(s.norm(length), RecvNorm)
			if total > c {
				if RestNorm {
					f += Rest * (total - c) / s.norm(float64(s.texts[i].length)-length)
				} else {
					f += Rest * (total - c)
				}
			}
			if f > 0 {
				s.scores[p] += weight * f * (K1 + 1) / (f + K1*s.norm(s.lengthOf(i, p)))
			}
		}
		for p := first; p < end; p++ {
			s.own[p] = 0
		}
	}
}

func (s *search) span(i int) (first, end int) {
	first, end = int(s.texts[i].first), len(s.parts)
	if i+1 < len(s.texts) {
		end = int(s.texts[i+1].first)
	}
	return
}

func (s *search) best() {
	b := make([]float64, len(s.texts))
	for p, x := range s.scores {
		t := s.parts[p].text
		b[t] = max(b[t], x)
	}
	s.scores = b
}

// norm is what a length divides counts by.
func (s *search) norm(length float64) float64 {
	average := float64(max(1, s.length)) / float64(len(s.parts))
	return 1 - B + B*length/average
}

// around calls do for text i and for those around it, with the share that a
// word of one has in the other.
func (s *search) around(i int, do func(j int, share float64)) {
	do(i, 1)
	if s.opts.Near <= 0 {
		return
	}
	for _, dir := range [2]int{-1, 1} {
		share := s.opts.Near
		j := i
		for d, n := 1, 1; d <= reach && n <= 2*reach; n++ {
			j += dir
			if j < 0 || j >= len(s.texts) || s.texts[j].group != s.texts[i].group {
				break
			}
			do(j, share)
			if !SkipShort || s.texts[j].length >= fewTerms {
				share *= s.opts.Near
				d++
			}
		}
	}
}

// lengthOf is how long a text is with its surroundings, as a mean: a short
// answer to a long question is no short text.
func (s *search) lengthOf(i, p int) float64 {
	var sum, shares float64
	s.around(i, func(j int, share float64) {
		l := float64(s.texts[j].length)
		if j == i {
			l = float64(s.parts[p].length)
		}
		if j != i && LenDisc {
			l /= s.norm(l)
		}
		sum += share * l
		shares += share
	})
	return sum / shares
}

// named are the authors that the query names, by the terms that do.
func (s *search) named(query []int32) map[int32][]int32 {
	if s.opts.Author == 0 {
		return nil
	}
	named := make(map[int32][]int32)
	for i, name := range s.authors.list {
		for _, term := range s.query(name) {
			if slices.Contains(query, term) {
				named[int32(i)+1] = append(named[int32(i)+1], term)
			}
		}
	}
	return named
}

// withoutNames is the query without the names of authors, unless it has
// nothing else.
func (s *search) withoutNames(query []int32, named map[int32][]int32) []int32 {
	isName := make(map[int32]bool)
	for _, terms := range named {
		for _, term := range terms {
			isName[term] = true
		}
	}
	if len(isName) == len(query) {
		return query
	}
	return slices.DeleteFunc(slices.Clone(query), func(term int32) bool { return isName[term] })
}

// favour raises the texts of the authors the query names, and the newer ones.
func (s *search) favour(named map[int32][]int32) {
	for i := range s.scores {
		if _, ok := named[s.texts[i].author]; ok {
			s.scores[i] *= 1 + s.opts.Author
		}
		s.scores[i] *= 1 + s.opts.Recency*float64(i+1)/float64(len(s.scores))
	}
}

// share adds to each text's score what its group gives.
func (s *search) share() {
	if s.opts.Group == 0 {
		return
	}
	best := make([][groupBest]float64, len(s.groups.list)+1)
	for i, score := range s.scores {
		top := &best[s.texts[i].group]
		for k := range top { // keeps the best in front
			if score > top[k] {
				score, top[k] = top[k], score
			}
		}
	}
	for i := range s.scores {
		if g := s.texts[i].group; g != 0 {
			w := 1.0
			if ShareShort {
				l := float64(s.texts[i].length)
				w = min(1, l/ShareFew)
			}
			w /= math.Pow(s.norm(float64(s.texts[i].length)), ShareNorm)
			for _, score := range best[g] {
				s.scores[i] += w * s.opts.Group * score / groupBest
			}
		}
	}
}
