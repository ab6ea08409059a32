package session

import (
	"slices"

	"github.com/kagewasm/kagewasm/strategies/rank"
)

const (
	// minExcerpt is the least number of tokens that an excerpt is worth showing with.
	minExcerpt = 12
	// minLooked is how many bytes around a place are searched for a passage, where the budget is not
	// more.
	minLooked = 4 << 10
	// bytesPerToken is a generous guess, which counting then corrects.
	bytesPerToken = 5
)

// excerpts cuts the units of the pieces that were found to a budget in tokens. Each unit may take an
// equal share of what the units before it left.
func (r *recall) excerpts(found []rank.Hit, q RecallQuery, budget int) (list []Recalled) {
	for i, h := range found {
		pieces, cost := r.unitExcerpts(h, q, budget/(len(found)-i))
		budget -= cost
		if len(pieces) > 0 {
			list = append(list, Recalled{Score: h.Score, Pieces: pieces})
		}
	}
	return list
}

// unitExcerpts cuts a unit around the piece that was found, which may take three quarters. The other
// half of its call comes next, then the others.
func (r *recall) unitExcerpts(found rank.Hit, q RecallQuery, budget int) (pieces []Excerpt, cost int) {
	order := r.byNearness(found.Text)
	shown := make(map[int]Excerpt)
	for k, i := range order {
		share := (budget - cost) / (len(order) - k)
		if k == 0 && len(order) > 1 {
			share = max(share, budget*3/4)
		}
		place := rank.Hit{Text: i}
		if i == found.Text {
			place = found
		}
		e, c := r.excerpt(place, q, share)
		if e.Text == "" && e.Length > 0 {
			continue // no room
		}
		shown[i] = e
		cost += c
	}
	slices.Sort(order)
	for _, i := range order {
		if e, ok := shown[i]; ok {
			pieces = append(pieces, e)
		}
	}
	return pieces, cost
}

// excerpt cuts a piece to the passage that tells most of the query, in at most budget tokens: around
// its place, or where none is known near the beginning. Nothing is left where that is too little to
// tell anything.
func (r *recall) excerpt(place rank.Hit, q RecallQuery, budget int) (Excerpt, int) {
	e := r.pieces[place.Text].Excerpt
	whole := e.Text
	e.Start, e.End = place.Around(whole, max(budget*bytesPerToken, minLooked))
	for size := budget * bytesPerToken; size > 0; {
		// Each try looks only where the one before did: texts are long.
		start, end := r.index.Passage(whole[e.Start:e.End], q.Text, size)
		e.Start, e.End = e.Start+start, e.Start+end
		e.Text = whole[e.Start:e.End]
		cost := q.count(e.Text)
		if cost <= budget && (budget >= minExcerpt || len(e.Text) == len(whole)) {
			return e, cost
		} else if cost <= budget {
			break
		}
		size = min(size, len(e.Text)) * budget / (cost + 1)
	}
	e.Text, e.Start, e.End = "", 0, 0
	return e, 0
}

// count returns the tokens of a text.
func (q *RecallQuery) count(text string) int {
	if q.Counter != nil {
		return q.Counter.Text(text)
	}
	return (len(text) + 2) / 3
}
