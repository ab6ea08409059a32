package session

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/strategies/rank"
)

const (
	recallLimit    = 5
	maxRecallLimit = abi.MaxSearchLimit
	recallTokens   = 2000
	// minRecallScore is the least score of a unit beside the best one, as a share of that.
	minRecallScore = 0.1
	// maxAsked is the most bytes of a call's arguments by which its result is found too: a path or a
	// command, not a file that is written.
	maxAsked = 256
)

// RecallQuery says what to look for among superseded messages.
type RecallQuery struct {
	// Text is what to look for: words and exact names.
	Text string
	// Limit is how many units to return. Default 5, at most 20.
	Limit int
	// Tokens is the most tokens of all excerpts together. Default 2,000.
	Tokens int
	// Counter counts those tokens. Default: a token for each three bytes.
	Counter abi.Counter
}

// Recalled and Excerpt are what a recall finds, in the form in which plugins see it too.
type (
	Recalled = abi.Recalled
	Excerpt  = abi.Excerpt
)

// Recall returns the messages that have to do with the query, best first, among those that compactions
// superseded or that were shortened. It does not search messages that the model still sees whole, that
// a rollback took back, or that no model ever saw. Nor does it search what compactions inserted: the
// originals say it better. It asks no model, and the same messages and query give the same answer.
func Recall(stored []StoredMessage, q RecallQuery) []Recalled {
	r := new(recall)
	r.update(stored, recallable)
	return r.excerpts(r.find(q), q, cmp.Or(max(0, q.Tokens), recallTokens))
}

// recallable reports whether a message is searched.
func recallable(m *StoredMessage) bool {
	switch {
	case m.Kind.Internal():
		return false
	case m.Kind == abi.KindSummary || m.Kind == abi.KindInjected:
		if _, framed := abi.Unfence(m.Text()); framed {
			return false
		}
	}
	return m.Superseded || m.Shortened
}

// recall is an index of what can be recalled. It is kept between recalls: a
// session grows at its end.
type recall struct {
	index  rank.Index
	pieces []piece // as numbered in the index; those of a unit stand together
	seen   []entry // what was indexed
}

// entry is a message as it was indexed. Under its id its content never changes.
type entry struct {
	id, by string
	unit   int
}

// piece is all that a message says, or all of the arguments of one of its
// calls.
type piece struct {
	Excerpt
	callID string // of a call and of its result
	unit   int
}

// update indexes the messages for which keep reports true and that are not indexed yet. Where indexed
// messages have changed, as after a rollback, it indexes all again.
func (r *recall) update(stored []StoredMessage, keep func(*StoredMessage) bool) {
	msgs := make([]abi.Message, 0, len(stored))
	from := make([]*StoredMessage, 0, len(stored))
	for i := range stored {
		if m := &stored[i]; m.By != byRollback {
			msgs, from = append(msgs, m.Message), append(from, m)
		}
	}
	var list []entry
	var kept []*StoredMessage
	units, _ := abi.Units(msgs)
	for unit, members := range units {
		for _, i := range members {
			if m := from[i]; keep(m) {
				list, kept = append(list, entry{m.ID, m.By, unit}), append(kept, m)
			}
		}
	}
	if n := len(r.seen); n > len(list) || !slices.Equal(r.seen, list[:n]) ||
		0 < n && n < len(list) && list[n].unit == list[n-1].unit {
		*r = recall{}
	}
	var calls map[string]*piece // of a unit
	for i := len(r.seen); i < len(list); i++ {
		if i == 0 || list[i].unit != list[i-1].unit {
			calls = make(map[string]*piece)
		}
		r.add(kept[i], list[i].unit, calls)
	}
	r.seen = list
}

// add indexes what a message says and the calls it makes. calls keeps the calls of its unit by id, for
// their results: most sources name the tool only at the call, and a result is found by the arguments of
// its call, too.
func (r *recall) add(m *StoredMessage, unit int, calls map[string]*piece) {
	p := piece{unit: unit, callID: m.ToolCallID, Excerpt: Excerpt{
		Message: m.ID, Role: m.Role, Kind: m.Kind, Timestamp: m.Timestamp, Compaction: m.By, Tool: m.Name, Text: m.Text()}}
	asked := ""
	if call := calls[m.ToolCallID]; call != nil && m.Role == abi.RoleTool {
		p.Tool = cmp.Or(p.Tool, call.Tool)
		asked = call.Text[:min(len(call.Text), maxAsked)]
	}
	if p.Text != "" {
		r.addPiece(p, asked)
	}
	for _, c := range m.ToolCalls {
		p.Call, p.callID, p.Tool, p.Text = true, c.ID, c.Name, c.Arguments
		r.addPiece(p, "")
		if calls[c.ID] == nil {
			calls[c.ID] = new(p)
		}
	}
}

func (r *recall) addPiece(p piece, asked string) {
	p.Length = len(p.Text)
	day, _, _ := strings.Cut(p.Timestamp, "T")
	r.index.Add(rank.Text{Body: p.Text, About: p.Tool + " " + day + " " + asked})
	r.pieces = append(r.pieces, p)
}

// find returns the best pieces, one of each unit. Of units whose best pieces say the same it returns
// only the first.
func (r *recall) find(q RecallQuery) (found []rank.Hit) {
	limit := min(cmp.Or(max(0, q.Limit), recallLimit), maxRecallLimit)
	units, said := make(map[int]bool), make(map[string]bool)
	for h := range r.index.Ranked(q.Text, rank.Conversation()) {
		if len(found) == limit || len(found) > 0 && h.Score < minRecallScore*found[0].Score {
			break
		}
		p := &r.pieces[h.Text]
		if !units[p.unit] && !said[p.Text] {
			found = append(found, h)
		}
		units[p.unit], said[p.Text] = true, true
	}
	return found
}

// byNearness returns the pieces of a unit: the one that was found, those of the same call, then the
// others.
func (r *recall) byNearness(found int) (list []int) {
	at := &r.pieces[found]
	first := found
	for first > 0 && r.pieces[first-1].unit == at.unit {
		first--
	}
	for i := first; i < len(r.pieces) && r.pieces[i].unit == at.unit; i++ {
		list = append(list, i)
	}
	distance := func(i int) int {
		switch id := r.pieces[i].callID; {
		case i == found:
			return 0
		case id != "" && id == at.callID:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(list, func(i, j int) int { return distance(i) - distance(j) })
	return list
}
