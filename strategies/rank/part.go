package rank

import (
	"iter"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"
)

// partTerms is after how many terms a text is cut, at the next end of a
// sentence; after twice as many it is cut anywhere.
const partTerms = 40

// Part is a text or, of a long one, a part of it. Each part is scored by itself.
type Part struct {
	// Length is how many terms it has, Bytes how many bytes of the body.
	Length, Bytes int32
	// Author and Group are numbers of names: [Index.Author], [Index.Group].
	Author, Group int32
	// Same says that it is of the same text as the part before it.
	Same bool
}

// Posting says how often a term stands in a part.
type Posting struct{ Part, Count int32 }

// Author returns the number of an author's name, which is 0 for the empty one.
func (ix *Index) Author(name string) int32 { return ix.authors.id(name) }

// Group returns the number of a group's name, which is 0 for the empty one.
func (ix *Index) Group(name string) int32 { return ix.groups.id(name) }

// Grow makes room for parts that are added next, and for their texts.
func (ix *Index) Grow(parts, texts int) {
	ix.parts, ix.texts = slices.Grow(ix.parts, parts), slices.Grow(ix.texts, texts)
}

// AddPart adds a part after those there are.
func (ix *Index) AddPart(p Part) {
	if !p.Same || len(ix.texts) == 0 {
		ix.texts = append(ix.texts, text{first: int32(len(ix.parts)), author: p.Author, group: p.Group})
	}
	n, start := len(ix.texts)-1, int32(0)
	if p.Same && len(ix.parts) > 0 {
		start = ix.parts[len(ix.parts)-1].end
	}
	ix.parts = append(ix.parts, part{p.Length, int32(n), start, start + p.Bytes})
	ix.texts[n].parts++
	ix.texts[n].length += p.Length
}

// cutBefore returns where a body is cut before the term that begins at next, or 0 where it is not cut:
// after the sentence that ended since the term before, where the part is long enough, and anywhere
// where it is too long.
func cutBefore(body string, length int32, end, next int) int {
	if length < partTerms {
		return 0
	}
	if next > end && (next > end+1 || body[end] != ' ') { // most words are a space apart
		if i := strings.LastIndexAny(body[end:next], "\n.!?\u3002\uff01\uff1f"); i >= 0 {
			_, size := utf8.DecodeRuneInString(body[end+i:])
			return end + i + size
		}
	}
	if length < 2*partTerms {
		return 0
	}
	return next
}

// Parts yields the parts of all texts, in order. It is for programs that store an index.
func (ix *Index) Parts() iter.Seq[Part] {
	return func(yield func(Part) bool) {
		for i, p := range ix.parts {
			t := &ix.texts[p.text]
			if !yield(Part{p.length, p.end - p.start, t.author, t.group, int(t.first) != i}) {
				return
			}
		}
	}
}

// Lists yields the terms, sorted, with where each stands. It is for programs that store an index.
func (ix *Index) Lists() iter.Seq2[string, []Posting] {
	return func(yield func(string, []Posting) bool) {
		terms, order := sorted(ix.terms)
		for _, id := range order {
			if !yield(terms[id], ix.lists[id]) {
				return
			}
		}
	}
}

// sorted are the terms by their numbers, and the numbers in the order of the terms. Most terms are told apart by how
// they begin: they are put in order as numbers, of the first bytes and the term's own number, and by their text only
// where they begin alike.
func sorted(numbers map[string]int32) (terms []string, order []uint64) {
	terms, order = make([]string, len(numbers)), make([]uint64, 0, len(numbers))
	ids := uint64(1)<<bits.Len(uint(len(terms))) - 1
	for term, id := range numbers {
		terms[id] = term
		order = append(order, headOf(term)&^ids|uint64(id))
	}
	slices.Sort(order)
	for from, i := 0, 1; i <= len(order); i++ {
		if i < len(order) && (order[i]^order[from]) <= ids {
			continue
		}
		if i-from > 1 {
			slices.SortFunc(order[from:i], func(a, b uint64) int { return strings.Compare(terms[a&ids], terms[b&ids]) })
		}
		from = i
	}
	for i := range order {
		order[i] &= ids
	}
	return terms, order
}

// headOf is the first eight bytes of a term as a number of the same order.
func headOf(term string) (head uint64) {
	for i := range 8 {
		head <<= 8
		if i < len(term) {
			head |= uint64(term[i])
		}
	}
	return head
}

// AddList adds where a term stands, in parts that were added with [Index.AddPart]. Part 0 in list is
// the part numbered offset. Call it for one term in the order of the parts.
func (ix *Index) AddList(term string, list []Posting, offset int) {
	id, ok := ix.terms[term]
	if !ok {
		id = ix.newTerm(term)
	}
	ix.lists[id] = slices.Grow(ix.lists[id], len(list))
	for _, p := range list {
		p.Part += int32(offset)
		ix.lists[id] = append(ix.lists[id], p)
	}
}

// Only has texts that are added from now on found by these terms alone: those of a query,
// for an index that answers no other. What a part's length is stays.
func (ix *Index) Only(terms []string) { ix.only, ix.labels, ix.memo = wantedOf(terms), nil, nil }

// PartCount returns how many parts there are.
func (ix *Index) PartCount() int { return len(ix.parts) }
