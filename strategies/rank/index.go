package rank

import (
	"math"
	"strings"
)

// Text is what can be found.
type Text struct {
	// Body is what it says.
	Body string
	// About is searched as well: words about the text that are not in it, such
	// as its date or a file's name.
	About string
	// Author is who says it; see [Options].Author.
	Author string
	// Group is what it belongs to: a session, a day. Empty is none.
	Group string
}

// Index holds texts by their terms; it does not keep the texts. The zero Index
// is empty and ready. Searches may run beside each other, but not beside Add.
type Index struct {
	terms   map[string]int32
	lists   [][]posting // by term
	docs    []doc
	length  int // of all texts, in terms
	authors names
	groups  names
}

// posting says how often a term stands in a text.
type posting struct{ doc, count int32 }

type doc struct{ length, author, group int32 }

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

// Len is how many texts there are.
func (ix *Index) Len() int { return len(ix.docs) }

// Add adds a text after those there are, in time linear in its length, and
// returns its number, from 0.
func (ix *Index) Add(t Text) int {
	n := len(ix.docs)
	length := ix.addTerms(int32(n), t.Body)
	ix.addTerms(int32(n), t.About) // a label makes no text a long one
	ix.length += length
	ix.docs = append(ix.docs, doc{int32(min(length, math.MaxInt32)), ix.authors.id(t.Author), ix.groups.id(t.Group)})
	return n
}

func (ix *Index) addTerms(n int32, text string) (length int) {
	if ix.terms == nil {
		ix.terms = make(map[string]int32)
	}
	Terms(text, func(term []byte, _, _ int) bool {
		length++
		id, ok := ix.terms[string(term)]
		if !ok {
			id = int32(len(ix.lists))
			ix.terms[string(term)] = id
			ix.lists = append(ix.lists, nil)
		}
		list := ix.lists[id]
		if last := len(list) - 1; last >= 0 && list[last].doc == n {
			list[last].count++
		} else {
			ix.lists[id] = append(list, posting{n, 1})
		}
		return true
	})
	return length
}

// query is the numbers of the terms of q that stand in any text, each once, in
// order.
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

// weight is how much a term tells: its inverse document frequency.
func (ix *Index) weight(term int32) float64 {
	n := float64(len(ix.lists[term]))
	return math.Log(1 + (float64(len(ix.docs))-n+0.5)/(n+0.5))
}
