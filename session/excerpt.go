package session

import (
	"slices"

	"github.com/kagewasm/kagewasm/strategies/rank"
)

const (
	// minExcerpt is the least an excerpt is worth showing for, in tokens.
	minExcerpt = 12
	// bytesPerToken is a generous guess, which counting then corrects.
	bytesPerToken = 5
)

// excerpts cuts the units of the pieces found to a budget. Each unit may take
// an equal share of what those before it left.
func (r *recall) excerpts(found []rank.Hit, q RecallQuery, budget int) []Recalled {
	var list []Recalled
	for i, h := range found {
		pieces, cost := r.unitExcerpts(h.Text, q, budget/(len(found)-i))
		budget -= cost
		if len(pieces) > 0 {
			list = append(list, Recalled{h.Score, pieces})
		}
	}
	return list
}

// unitExcerpts cuts a unit around the piece that was found, which may take
// three quarters; the other half of its call comes next, then the others.
func (r *recall) unitExcerpts(found int, q RecallQuery, budget int) (pieces []RecalledPiece, cost int) {
	order := r.byNearness(found)
	shown := make(map[int]RecalledPiece)
	for k, i := range order {
		share := (budget - cost) / (len(order) - k)
		if k == 0 && len(order) > 1 {
			share = max(share, budget*3/4)
		}
		p, c := r.excerpt(r.pieces[i].RecalledPiece, q, share)
		if p.Text == "" && p.Length > 0 {
			continue // no room
		}
		shown[i] = p
		cost += c
	}
	slices.Sort(order)
	for _, i := range order {
		if p, ok := shown[i]; ok {
			pieces = append(pieces, p)
		}
	}
	return pieces, cost
}

// byNearness are the pieces of a unit: the one found, those of the same call,
// then the others.
func (r *recall) byNearness(found int) []int {
	unit := r.units[r.pieces[found].unit]
	var same, others []int
	for i := unit.first; i < unit.end; i++ {
		switch id := r.pieces[i].callID; {
		case i == found:
		case id != "" && id == r.pieces[found].callID:
			same = append(same, i)
		default:
			others = append(others, i)
		}
	}
	return slices.Concat([]int{found}, same, others)
}

// excerpt cuts a piece to the passage that tells most of the query, in at most
// budget tokens; nothing is left where that is too little to tell anything.
func (r *recall) excerpt(p RecalledPiece, q RecallQuery, budget int) (RecalledPiece, int) {
	whole := p.Text
	p.End = len(whole)
	for size := budget * bytesPerToken; size > 0; {
		// Each try looks only where the one before did: texts are long.
		start, end := r.index.Passage(whole[p.Start:p.End], q.Text, size)
		p.Start, p.End = p.Start+start, p.Start+end
		p.Text = whole[p.Start:p.End]
		cost := q.count(p.Text)
		if cost <= budget && (budget >= minExcerpt || len(p.Text) == len(whole)) {
			return p, cost
		} else if cost <= budget {
			break
		}
		size = min(size, len(p.Text)) * budget / (cost + 1)
	}
	p.Text, p.Start, p.End = "", 0, 0
	return p, 0
}

// count is what a text costs, in tokens.
func (q *RecallQuery) count(text string) int {
	if q.Counter != nil {
		return q.Counter.Text(text)
	}
	return (len(text) + 2) / 3
}
