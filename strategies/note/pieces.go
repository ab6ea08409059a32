package note

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/internal/lists"
)

// A file may be read in pieces, which may overlap, in any order. Each line counts once: the first time it is read.

// span is a run of lines, the first and the last, counted from 1. Ends: the file has none behind them.
type span struct {
	from, to int
	ends     bool
}

// pieces are lines that were read, in order; none of them touches the next.
type pieces []span

// with are the pieces with one more.
func (p pieces) with(s span) (joined pieces) {
	joined = append(slices.Clone(p), s)
	lists.SortStable(joined, func(x, y span) int { return cmp.Compare(x.from, y.from) })
	last := 0
	for _, o := range joined[1:] {
		if l := &joined[last]; o.from <= l.to+1 {
			l.to, l.ends = max(l.to, o.to), l.ends || o.ends
			continue
		}
		last++
		joined[last] = o
	}
	return joined[:last+1]
}

// whole reports whether they are all lines of a file, as far as it is known: none of a file were read in part.
func (p pieces) whole() bool { return len(p) == 0 || p[0].from == 1 && p[0].ends }

// first is the first line of what is known.
func (p pieces) first() int {
	if len(p) == 0 {
		return 1 // all was read
	}
	return p[0].from
}

// has reports whether a line is among them.
func (p pieces) has(line int) bool {
	return slices.ContainsFunc(p, func(s span) bool { return s.from <= line && line <= s.to })
}

// String is how they are told: "1-260, 300-320".
func (p pieces) String() string {
	return strings.Join(lists.Map(p, func(s span) string { return fmt.Sprintf("%d-%d", s.from, s.to) }), ", ")
}

// readPieces reads them back.
func readPieces(told string) (p pieces) {
	for one := range strings.SplitSeq(told, ", ") {
		from, to, ok := strings.Cut(one, "-")
		s := span{from: number(from), to: number(to)}
		if !ok || s.from < 1 || s.to < s.from || len(p) == maxPieces {
			return nil
		}
		p = p.with(s)
	}
	return p
}

// maxPieces bounds the pieces of one file that are remembered.
const maxPieces = 20

// unread is a text, whose first line is a line of the file, without the lines that are among the pieces.
func (p pieces) unread(text string, first int) string {
	if len(p) == 0 {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !p.has(first) {
			b.WriteString(line)
		}
		first++
	}
	return b.String()
}
