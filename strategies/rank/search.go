package rank

import "slices"

const (
	// k1 is how soon more of the same word counts no more, and b how much a
	// long text must hold more of it. These are the defaults of the Anserini
	// toolkit, and fit short texts better than the common 1.2 and 0.75.
	k1 = 0.9
	b  = 0.4
)

const (
	// groupBest is how many texts speak for a group.
	groupBest = 3
	// fewTerms is the number of terms with which a text takes only half of what its surroundings give.
	// One with fewer does not count as a step between others: "yes, sure" says nothing, whatever is
	// said around it.
	fewTerms = 4
	// ownTerms is the number of terms at which a text takes only half of what its surroundings give: a
	// line of a chat needs what was asked before it, a paragraph says itself what it is about.
	ownTerms = 60
	// restShare is what a word in the other parts of a text counts.
	restShare = 0.2
)

// search is one search of an index.
type search struct {
	*Index
	opts    Options
	average float64   // length of a part
	whole   whole     // what texts get as a whole
	scores  []float64 // by part
	norms   []float64 // of the lengths of parts with their surroundings; 0 is not known yet

	// Of one term, all 0 between terms:
	counts []float64 // by part
	given  []float64 // by text, what its surroundings give
	held   []bool    // by text, whether any of it counts

	order []int32    // the texts held
	near  []neighbor // of the text looked at last
}

func newSearch(ix *Index, opts Options) *search {
	parts, texts := len(ix.parts), len(ix.texts)
	return &search{
		Index: ix, opts: opts, average: ix.average(), whole: newWhole(ix, opts.Whole),
		scores: make([]float64, parts), norms: make([]float64, parts), counts: make([]float64, parts),
		given: make([]float64, texts), held: make([]bool, texts),
	}
}

// average returns how long a text, or a part of it, is on average. Nods are left out, so that they make
// no other text a long one, and a page counts no more than a part, so that it makes none a short one.
func (ix *Index) average() float64 {
	var all, some, count float64
	for _, t := range ix.texts {
		length := float64(t.length) / float64(t.parts)
		all += length
		if t.length >= fewTerms {
			some += length
			count++
		}
	}
	if count == 0 {
		some, count = all, float64(len(ix.texts))
	}
	return max(1, some) / max(1, count)
}

// norm is what a length divides counts by.
func (s *search) norm(length float64) float64 { return 1 - b + b*length/s.average }

// add adds what a term gives to the scores.
func (s *search) add(term int32) {
	s.order = s.order[:0]
	holders := 0
	for list := s.lists[term]; len(list) > 0; {
		from := s.parts[list[0].Part].text
		count := 0.0
		for len(list) > 0 && s.parts[list[0].Part].text == from {
			s.counts[list[0].Part] = float64(list[0].Count)
			count += float64(list[0].Count)
			list = list[1:]
		}
		holders++
		s.hold(from)
		s.whole.count(from, count)
		given := count / s.norm(float64(s.texts[from].length))
		for _, n := range s.around(from) {
			s.hold(n.text)
			s.given[n.text] += n.share * given
		}
	}
	weight := s.idf(holders)
	s.whole.add(weight)
	for _, i := range s.order {
		s.addTo(i, weight)
		s.given[i], s.held[i] = 0, false
	}
}

func (s *search) hold(text int32) {
	if !s.held[text] {
		s.held[text] = true
		s.order = append(s.order, text)
	}
}

// addTo adds what the term gives to the parts of a text.
func (s *search) addTo(i int32, weight float64) {
	t := &s.texts[i]
	all := 0.0
	for p := t.first; p < t.first+t.parts; p++ {
		all += s.counts[p]
	}
	for p := t.first; p < t.first+t.parts; p++ {
		c, length := s.counts[p], float64(s.parts[p].length)
		s.counts[p] = 0
		f := c
		if given := s.given[i]; given > 0 {
			f += given * length / (length + fewTerms) * ownTerms / (ownTerms + float64(t.length))
		}
		if rest := all - c; rest > 0 {
			f += restShare * rest / s.norm(float64(t.length)-length)
		}
		if f > 0 {
			s.scores[p] += weight * f * (k1 + 1) / (f + k1*s.normOf(p))
		}
	}
}

// normOf returns the norm of a part's length with its surroundings, as a mean: a short answer to a long
// question is no short text.
func (s *search) normOf(p int32) float64 {
	if s.norms[p] == 0 {
		sum, shares := float64(s.parts[p].length), 1.0
		for _, n := range s.around(s.parts[p].text) {
			sum += n.share * min(float64(s.texts[n.text].length), longNear*s.average)
			shares += n.share
		}
		s.norms[p] = s.norm(sum / shares)
	}
	return s.norms[p]
}

// best returns the scores of the texts, each that of the best of its parts.
func (s *search) best() []float64 {
	scores := make([]float64, len(s.texts))
	for i, t := range s.texts {
		for _, score := range s.scores[t.first : t.first+t.parts] {
			scores[i] = max(scores[i], score)
		}
	}
	return scores
}

// rate returns the scores of all texts, and leaves those of their parts.
func (s *search) rate(query string) []float64 {
	terms := s.query(query)
	named := s.named(terms)
	for _, term := range s.withoutNames(terms, named) {
		s.add(term)
	}
	scores := s.best()
	s.whole.mix(scores)
	s.favour(scores, named)
	s.share(scores)
	return scores
}

// named returns the authors that the query names, each with the terms of its name.
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

// withoutNames returns the query without the names of authors, unless it has nothing else.
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
func (s *search) favour(scores []float64, named map[int32][]int32) {
	for i := range scores {
		if _, ok := named[s.texts[i].author]; ok {
			scores[i] *= 1 + s.opts.Author
		}
		scores[i] *= 1 + s.opts.Recency*float64(i+1)/float64(len(scores))
	}
}

// share adds to each text's score what its group gives.
func (s *search) share(scores []float64) {
	if s.opts.Group == 0 {
		return
	}
	best := make([][groupBest]float64, len(s.groups.list)+1)
	for i, score := range scores {
		top := &best[s.texts[i].group]
		for k := range top { // keeps the best in front
			if score > top[k] {
				score, top[k] = top[k], score
			}
		}
	}
	for i := range scores {
		t := &s.texts[i]
		if t.group == 0 {
			continue
		}
		share := s.opts.Group * min(1, float64(t.length)/fewTerms)
		for _, score := range best[t.group] {
			scores[i] += share * score / groupBest
		}
	}
}
