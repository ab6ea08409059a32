package session

import (
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/set"
)

// StoredMessage is a message with what became of it.
type StoredMessage struct {
	abi.Message
	// Superseded: the model does not see it any more.
	Superseded bool `json:"superseded,omitempty"`
	// By is the id of the compaction that took it away, "pruning" or
	// "rollback".
	By string `json:"superseded_by,omitempty"`
	// Shortened: the model sees a part of it.
	Shortened bool `json:"shortened,omitempty"`
}

// What StoredMessage.By says where no compaction took a message away.
const (
	byRollback = "rollback"
	byPruning  = "pruning"
)

// Effect is what an entry does to all the messages there ever were. A journal that
// keeps them as rows applies it to those.
type Effect struct {
	// New are messages that were not there before.
	New []Placed
	// Gone are the ids that the model sees no more, By is what took them away.
	Gone []string
	By   string
	// Back are the ids that it sees again.
	Back []string
}

// Placed is a new message with the id of the one that it stands behind: the empty
// one stands before all, and what arrives behind all.
type Placed struct {
	abi.Message
	Behind string
	Last   bool
}

// EffectOf says what an entry does that turns one list into another. known reports
// whether a message was there before.
func EffectOf(e *Entry, before []string, after []abi.Message, known func(id string) bool) (f Effect) {
	switch {
	case e.Proposed != nil, e.Rejected != nil:
		return f
	case e.Rewrite == nil && e.Rollback == nil:
		for _, m := range e.Append {
			f.New = append(f.New, Placed{Message: m, Last: true})
		}
		return f
	}
	f.By = e.by()
	seen, shown := set.Of(before...), set.Of(idsOf(after)...)
	for _, id := range before {
		if !shown[id] {
			f.Gone = append(f.Gone, id)
		}
	}
	behind := ""
	for i := range after {
		switch id := after[i].ID; {
		case !known(id):
			f.New = append(f.New, Placed{Message: after[i], Behind: behind})
		case !seen[id]:
			f.Back = append(f.Back, id)
		}
		behind = after[i].ID
	}
	return f
}

// by names what an entry did, for a message that it took away.
func (e *Entry) by() string {
	switch {
	case e.Rollback != nil:
		return byRollback
	case e.Rewrite.Record != nil:
		return e.Rewrite.Record.ID
	}
	return byPruning
}

// archive is every message there ever was, as it came, in the order they came.
// An inserted one stands where it was inserted into the list. What arrives costs
// no more than itself; a rewritten list costs a look at all.
type archive struct {
	list    []StoredMessage
	at      map[string]int // into list, by id
	arrived map[string]int // the number of the entry that brought a message
}

// get is a message as it came, or nil.
func (a *archive) get(id string) *abi.Message {
	if i, ok := a.at[id]; ok {
		return new(a.list[i].Message)
	}
	return nil
}

// take takes in an entry that turned one list into another.
func (a *archive) take(e *Entry, before, after []abi.Message) {
	if a.at == nil {
		a.at, a.arrived = make(map[string]int), make(map[string]int)
	}
	for _, m := range e.Append {
		a.arrived[m.ID] = e.Seq
	}
	var were []string
	if e.Rewrite != nil || e.Rollback != nil {
		were = idsOf(before)
	}
	f := EffectOf(e, were, after, func(id string) bool { _, ok := a.at[id]; return ok })
	for _, id := range f.Gone {
		m := &a.list[a.at[id]]
		m.Superseded, m.By = true, f.By
	}
	for _, id := range f.Back {
		m := &a.list[a.at[id]]
		m.Superseded, m.By = false, ""
	}
	for _, m := range f.New {
		pos := len(a.list)
		if !m.Last {
			pos = 0
			if m.Behind != "" {
				pos = a.at[m.Behind] + 1
			}
		}
		a.list = slices.Insert(a.list, pos, StoredMessage{Message: m.Message})
		for j := pos; j < len(a.list); j++ {
			a.at[a.list[j].ID] = j
		}
	}
}
