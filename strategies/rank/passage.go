package rank

import (
	"strings"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/internal/set"
)

// match is a term of the query in a text.
type match struct {
	term       int32
	start, end int
}

// Passage returns the part of a text, at most size bytes long, that tells most
// of the query: the one with the greatest weight of different terms. It begins
// and ends at spaces where there are any, and never inside a character.
// The text need not be one of the index; where it holds no term of the query
// the passage is its beginning.
func (ix *Index) Passage(text, query string, size int) (start, end int) {
	size = max(0, size)
	if len(text) <= size {
		return 0, len(text)
	}
	first, last := ix.densest(ix.matches(text, query), size)
	start = max(0, min(first-(size-(last-first))/2, len(text)-size))
	return snap(text, start, start+size, first, last)
}

// Around returns the bytes from start to end of a text where a hit stands, with so many bytes before
// and after it. It begins and ends at spaces where there are any, and never inside a character.
func (h Hit) Around(text string, size int) (start, end int) {
	first, last := min(h.Start, len(text)), min(h.End, len(text))
	return snap(text, max(0, first-size), min(len(text), last+size), first, last)
}

func (ix *Index) matches(text, query string) []match {
	wanted := set.Of(ix.query(query)...)
	var found []match
	Terms(text, func(term []byte, start, end int) bool {
		if id, ok := ix.terms[string(term)]; ok && wanted[id] {
			found = append(found, match{id, start, end})
		}
		return true
	})
	return found
}

// densest returns the shortest run of matches within size bytes that weighs most; of equals the first.
func (ix *Index) densest(found []match, size int) (start, end int) {
	in := make(map[int32]int) // how many of each term are in the window
	var weight, best float64
	from := 0
	for _, m := range found {
		if in[m.term]++; in[m.term] == 1 {
			weight += ix.weight(m.term)
		}
		for from < len(found) && found[from].start < m.start && (m.end-found[from].start > size || in[found[from].term] > 1) {
			if in[found[from].term]--; in[found[from].term] == 0 {
				weight -= ix.weight(found[from].term)
			}
			from++
		}
		if fits := m.end-found[from].start <= size; fits && weight > best+1e-9 {
			best, start, end = weight, found[from].start, m.end
		}
	}
	return start, end
}

// snap narrows a part of text to spaces, but not into [first, last), and to
// whole characters.
func snap(text string, start, end, first, last int) (int, int) {
	const spaces = " \t\n"
	if start > 0 && start < first {
		if i := strings.IndexAny(text[start:first], spaces); i >= 0 {
			start += i + 1
		}
	}
	if end < len(text) && last < end {
		if i := strings.LastIndexAny(text[last:end], spaces); i > 0 {
			end = last + i
		}
	}
	for start < end && !utf8.RuneStart(text[start]) {
		start++
	}
	for end > start && end < len(text) && !utf8.RuneStart(text[end]) {
		end--
	}
	return start, end
}
