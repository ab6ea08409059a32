package session

import (
	"slices"
	"strings"
	"unicode/utf8"

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
	// leastExcerpt is the part of an excerpt, one of so many, that stays whatever lines it cuts.
	leastExcerpt = 3
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
			start, end := r.index.Passage(e.Text, q.Text, len(e.Text)/leastExcerpt)
			e.Start, e.End = inLines(whole, e.Call, e.Start, e.End, e.Start+start, e.Start+end)
			e.Text = whole[e.Start:e.End]
			return e, min(cost, q.count(e.Text))
		} else if cost <= budget {
			break
		}
		size = min(size, len(e.Text)) * budget / (cost + 1)
	}
	e.Text, e.Start, e.End = "", 0, 0
	return e, 0
}

// inLines narrows a part of a text to whole lines, or where it holds no ends of any to whole sentences, but not into
// [first, last), which tells most. escaped: the text is the JSON of a call.
func inLines(text string, escaped bool, start, end, first, last int) (int, int) {
	stops := []func(from, to int) int{
		func(from, to int) int { return lineEnd(text, escaped, from, to) },
		func(from, to int) int { return sentenceEnd(text[from:to]) },
	}
	from := max(0, start-maxStop)
	for _, stop := range stops {
		at := from
		for at < start { // a line may begin there already
			n := stop(at, first)
			if n == 0 {
				break
			}
			at += n
		}
		if start > 0 && at >= start {
			start = at + len(text[at:first]) - len(strings.TrimLeft(text[at:first], "\n"))
			break
		}
	}
	for _, stop := range stops {
		at := last
		for n := stop(at, end); n > 0; n = stop(at, end) {
			at += n
		}
		if end < len(text) && at > last {
			at = len(strings.TrimRight(text[:at], "\n "))
			if escaped && escapedEnd(text, at-len(`\n`), at) {
				at -= len(`\n`)
			}
			return start, max(last, at)
		}
	}
	return start, end
}

// maxStop is how long what ends a line or a sentence may be, in bytes.
const maxStop = 4

// lineEnd is how many bytes of a part of a text its first line has, with its end. It is 0 where none ends.
func lineEnd(text string, escaped bool, from, to int) int {
	for i := from; i < to; i++ {
		switch {
		case text[i] == '\n':
			return i + 1 - from
		case escaped && escapedEnd(text, i, to):
			return i + 2 - from
		}
	}
	return 0
}

// escapedEnd reports whether a line of the JSON of a call ends at i: with a backslash and n, of which the backslash
// does not belong to one before it.
func escapedEnd(text string, i, to int) bool {
	if i < 0 || !strings.HasPrefix(text[i:to], `\n`) {
		return false
	}
	return (i-len(strings.TrimRight(text[:i], `\`)))%2 == 0
}

// sentenceEnd is the same for a sentence of a text.
func sentenceEnd(text string) int {
	for i, r := range text {
		switch r {
		case '.', '!', '?':
			rest := strings.TrimLeft(text[i+1:], `)"'`)
			if strings.HasPrefix(rest, " ") {
				return len(text) - len(rest) + 1
			}
		case '。', '！', '？':
			return i + utf8.RuneLen(r)
		}
	}
	return 0
}

// count returns the tokens of a text.
func (q *RecallQuery) count(text string) int {
	if q.Counter != nil {
		return q.Counter.Text(text)
	}
	return (len(text) + 2) / 3
}
