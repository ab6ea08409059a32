package rank

import (
	"math"
	"strings"
)

// Text is a text to be found: give it to [Index.Add].
type Text struct {
	// Body is what it says.
	Body string
	// About is searched as well: words about the text that are not in it, such
	// as its date or a file's name.
	About string
	// Author is the name of the person who says it; see [Options].Author.
	Author string
	// Group names what it belongs to: a session, a day. Empty is none.
	Group string
}

// Index holds texts by their terms; it does not keep the texts. The zero Index is empty and ready.
// Searches may run beside each other, but not while something is added.
type Index struct {
	terms   map[string]int32
	only    *wanted // nil: all terms are
	memo    *memo   // of words that were added
	labels  map[string][]int32
	lists   [][]Posting // by term
	room    room
	parts   []part
	texts   []text
	authors names
	groups  names
}

// part is a Part of a text, with its place in the body.
type part struct{ length, text, start, end int32 }

// text is where its parts are, and what is the same for all of them.
type text struct{ first, parts, length, author, group int32 }

// names numbers names from 1; the empty one is 0.
type names struct {
	ids  map[string]int32
	list []string
}

func (n *names) id(name string) int32 {
	if name == "" {
		return 0
	}
	if id, ok := n.ids[name]; ok {
		return id
	}
	if n.ids == nil {
		n.ids = make(map[string]int32)
	}
	name = strings.Clone(name)
	n.list = append(n.list, name)
	n.ids[name] = int32(len(n.list))
	return int32(len(n.list))
}

// Len returns how many texts there are.
func (ix *Index) Len() int { return len(ix.texts) }

// Add adds a text after those there are, in time linear in its length, and
// returns its number, from 0. What it is about counts for its first part.
func (ix *Index) Add(t Text) int {
	n := len(ix.texts)
	for _, id := range ix.label(t.About) {
		ix.count(id) // but not in the length: a label makes no text a long one
	}
	if ix.memo == nil {
		ix.memo = new(memo)
	}
	a := adding{index: ix, body: t.Body, part: Part{Author: ix.Author(t.Author), Group: ix.Group(t.Group)}}
	s := scanner{text: t.Body, adding: &a}
	s.scan()
	a.part.Bytes = int32(len(t.Body) - a.start)
	ix.AddPart(a.part)
	return n
}

// adding is a text that is added to an index, and how far. It is no function that the scanner calls: those cost a guest
// more than what is done here for most words.
type adding struct {
	index *Index
	body  string
	part  Part
	start int // of the part
	end   int // of the last term
}

// take adds the term of that number, which stands between two places of the text.
func (a *adding) take(id int32, from, end int) {
	if a.part.Length >= partTerms {
		if cut := cutBefore(a.body, a.part.Length, a.end, from); cut > 0 {
			a.part.Bytes = int32(cut - a.start)
			a.index.AddPart(a.part)
			a.part.Length, a.part.Same, a.start = 0, true, cut
		}
	}
	a.part.Length++
	if id != unwanted {
		a.index.count(id)
	}
	a.end = end
}

// term adds a term, and returns its number.
func (a *adding) term(term []byte, from, end int) int32 {
	id, ok := a.index.number(term)
	if !ok {
		id = unwanted
	}
	a.take(id, from, end)
	return id
}

// maxLabels is of how many labels an index remembers the terms: many texts in a row have
// the same author and time.
const maxLabels = 64

// label is the numbers of the terms of what a text is about.
func (ix *Index) label(about string) []int32 {
	ids, ok := ix.labels[about]
	if ok {
		return ids
	}
	Terms(about, func(term []byte, _, _ int) bool {
		if id, ok := ix.number(term); ok {
			ids = append(ids, id)
		}
		return true
	})
	if ix.labels == nil || len(ix.labels) >= maxLabels {
		ix.labels = make(map[string][]int32)
	}
	ix.labels[about] = ids
	return ids
}

// number is the number of a term, which it has from now on, unless others are wanted alone.
func (ix *Index) number(term []byte) (id int32, ok bool) {
	if ix.only != nil && !ix.only.has(term) {
		return 0, false
	}
	if id, ok = ix.terms[string(term)]; !ok {
		id = ix.newTerm(ix.room.text(term))
	}
	return id, true
}

// count counts a term of the part that is added next.
func (ix *Index) count(id int32) {
	n, list := int32(len(ix.parts)), ix.lists[id]
	if last := len(list) - 1; last >= 0 && list[last].Part == n {
		list[last].Count++
	} else {
		ix.lists[id] = append(ix.room.forOne(list), Posting{n, 1})
	}
}

func (ix *Index) newTerm(term string) int32 {
	if ix.terms == nil {
		ix.terms = make(map[string]int32)
	}
	id := int32(len(ix.lists))
	ix.terms[term] = id
	ix.lists = append(ix.lists, nil)
	return id
}

// query returns the numbers of the terms of q that stand in any text, each once, in order.
func (ix *Index) query(q string) []int32 {
	var ids []int32
	seen := make(map[int32]bool)
	Terms(q, func(term []byte, _, _ int) bool {
		if id, ok := ix.terms[string(term)]; ok && !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
		return true
	})
	return ids
}

// weight returns how much a term tells.
func (ix *Index) weight(term int32) float64 {
	holders, last := 0, int32(-1)
	for _, p := range ix.lists[term] {
		if text := ix.parts[p.Part].text; text != last {
			holders, last = holders+1, text
		}
	}
	return ix.idf(holders)
}

// idf returns the inverse document frequency of a term that so many texts hold.
func (ix *Index) idf(holders int) float64 {
	n := float64(holders)
	return math.Log(1 + (float64(len(ix.texts))-n+0.5)/(n+0.5))
}
