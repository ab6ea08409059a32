package session

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/strategies/rank"
)

// Defaults and bounds of a RecallQuery.
const (
	DefaultRecallLimit = 5
	MaxRecallLimit     = 20
	// minRecallScore is how good a unit has to be beside the best one.
	minRecallScore = 0.1
	// maxAsked is how much of a call's arguments is searched for its result as
	// well, in bytes: a path, a command, not a file that is written.
	maxAsked = 256
	// DefaultRecallTokens is what the excerpts of a recall may cost together.
	DefaultRecallTokens = 2000
)

// RecallQuery says what to look for among superseded messages.
type RecallQuery struct {
	// Text is what to look for: words and exact names.
	Text string
	// Limit is how many units to return. Default 5, at most 20.
	Limit int
	// Tokens is what all excerpts together may cost. Default 2,000.
	Tokens int
	// Counter counts them. Default: a token for each three bytes.
	Counter abi.Counter
}

// Recalled is a unit that was found: a call with its results, or any other
// message alone (see [abi.Units]).
type Recalled struct {
	// Score is comparable within one recall.
	Score float64 `json:"score"`
	// Pieces are excerpts of the unit, in order.
	Pieces []RecalledPiece `json:"pieces"`
}

// RecalledPiece is an excerpt of a message, with where it is from.
type RecalledPiece struct {
	// Message is the id of the message, Role, Kind and Timestamp are its own.
	Message   string   `json:"message"`
	Role      abi.Role `json:"role"`
	Kind      abi.Kind `json:"kind,omitempty"`
	Timestamp string   `json:"timestamp,omitempty"`
	// Compaction is the id of what superseded it.
	Compaction string `json:"compaction"`
	// Tool is the tool's name, for a call and for its result.
	Tool string `json:"tool,omitempty"`
	// Call says that Text is from the arguments of a call.
	Call bool `json:"call,omitempty"`
	// Text is a part of the message's text, byte for byte, and Start and End
	// where in it, in bytes, of Length.
	Text   string `json:"text"`
	Start  int    `json:"start"`
	End    int    `json:"end"`
	Length int    `json:"length"`
}

// Recall finds what has to do with the query among the messages that
// compactions superseded, best first (FEATURES N9). Messages that are still in
// the model's view are not searched, nor are those that a rollback took back,
// those that no model ever saw, and what compactions inserted themselves: the
// originals say it better. It uses no model, and the same messages and the
// same query give the same answer.
func Recall(stored []StoredMessage, q RecallQuery) []Recalled {
	r := newRecall(stored)
	return r.excerpts(r.find(q), q, cmp.Or(max(0, q.Tokens), DefaultRecallTokens))
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
	return m.Superseded && m.By != byRollback
}

// recall holds what can be recalled.
type recall struct {
	index  rank.Index
	pieces []piece // as numbered in the index
	units  []span
}

// piece is all that a message says, or all of the arguments of one of its
// calls.
type piece struct {
	RecalledPiece
	callID string // of a call and of its result
	unit   int
}

// span is the pieces of a unit: [first, end).
type span struct{ first, end int }

func newRecall(stored []StoredMessage) *recall {
	msgs := make([]abi.Message, 0, len(stored))
	from := make([]*StoredMessage, 0, len(stored))
	for i := range stored {
		if stored[i].By != byRollback {
			msgs, from = append(msgs, stored[i].Message), append(from, &stored[i])
		}
	}
	r := new(recall)
	units, _ := abi.Units(msgs)
	for _, u := range units {
		first := len(r.pieces)
		for _, i := range u {
			if recallable(from[i]) {
				r.addMessage(from[i], first)
			}
		}
		if end := len(r.pieces); end > first {
			r.units = append(r.units, span{first, end})
		}
	}
	return r
}

// addMessage adds what a message says and the calls it makes; the pieces of
// its unit begin at first.
func (r *recall) addMessage(m *StoredMessage, first int) {
	p := piece{unit: len(r.units), callID: m.ToolCallID, RecalledPiece: RecalledPiece{
		Message: m.ID, Role: m.Role, Kind: m.Kind, Timestamp: m.Timestamp, Compaction: m.By, Tool: m.Name, Text: m.Text(),
	}}
	asked := ""
	if i := slices.IndexFunc(r.pieces[first:], func(c piece) bool { return c.Call && c.callID == p.callID }); i >= 0 && m.Role == abi.RoleTool {
		call := &r.pieces[first+i]
		p.Tool = cmp.Or(p.Tool, call.Tool) // most sources name it at the call alone
		asked = call.Text[:min(len(call.Text), maxAsked)]
	}
	if p.Text != "" {
		r.add(p, asked)
	}
	for _, c := range m.ToolCalls {
		p.Call, p.callID, p.Tool, p.Text = true, c.ID, c.Name, c.Arguments
		r.add(p, "")
	}
}

// add adds a piece; asked is what a result answers.
func (r *recall) add(p piece, asked string) {
	p.Length = len(p.Text)
	day, _, _ := strings.Cut(p.Timestamp, "T")
	r.index.Add(rank.Text{Body: p.Text, About: p.Tool + " " + day + " " + asked})
	r.pieces = append(r.pieces, p)
}

// find returns the best pieces, one of each unit; of units whose best pieces
// say the same only the first.
func (r *recall) find(q RecallQuery) []rank.Hit {
	limit := min(cmp.Or(max(0, q.Limit), DefaultRecallLimit), MaxRecallLimit)
	var found []rank.Hit
	units, said := make(map[int]bool), make(map[string]bool)
	for h := range r.index.Ranked(q.Text, rank.Options{Near: rank.Conversation().Near}) {
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
