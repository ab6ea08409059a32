package session

import (
	"cmp"
	"strings"
	"unicode"

	"github.com/kagewasm/kagewasm/strategies/rank"
)

// maxPassage is the most bytes of a passage: encoded data has no sentences to end one.
const maxPassage = 2 << 10

// minPassageScore is the least score of a passage beside the best one, as a share of that. People read
// all of them.
const minPassageScore = 0.25

// Passages finds the passages of a session that have to do with the query, best
// first, each alone in a [Recalled]. It is [Recall] for people who look for
// something: it searches all messages, superseded or not, and of a long one
// returns every passage that tells of the query.
func Passages(stored []StoredMessage, q RecallQuery) (list []Recalled) {
	r := new(recall)
	r.update(stored, func(*StoredMessage) bool { return true })
	opts := rank.Conversation()
	opts.Passages = true
	limit := min(cmp.Or(max(0, q.Limit), recallLimit), maxRecallLimit)
	for h := range r.index.Ranked(q.Text, opts) {
		if len(list) == limit || len(list) > 0 && h.Score < minPassageScore*list[0].Score {
			break
		}
		if e := r.passage(h, q.Text); e.Text != "" {
			list = append(list, Recalled{Score: h.Score, Pieces: []Excerpt{e}})
		}
	}
	return list
}

// passage returns the passage of a hit, without the space around it.
func (r *recall) passage(h rank.Hit, query string) Excerpt {
	e := r.pieces[h.Text].Excerpt
	start, end := r.index.Passage(e.Text[h.Start:h.End], query, maxPassage)
	text := e.Text[h.Start+start : h.Start+end]
	e.Start = h.Start + start + len(text) - len(strings.TrimLeftFunc(text, unicode.IsSpace))
	e.Text = strings.TrimSpace(text)
	e.End = e.Start + len(e.Text)
	return e
}
