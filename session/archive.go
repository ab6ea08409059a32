package session

import (
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/lists"
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
}

// What StoredMessage.By says where no compaction took a message away.
const (
	byRollback = "rollback"
	byPruning  = "pruning"
)

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
	if e.Rewrite == nil && e.Rollback == nil {
		for _, m := range e.Append {
			a.at[m.ID], a.arrived[m.ID] = len(a.list), e.Seq
			a.list = append(a.list, StoredMessage{Message: m})
		}
		return
	}
	shown := set.Of(lists.Map(after, func(m abi.Message) string { return m.ID })...)
	for i := range before {
		if j := a.at[before[i].ID]; !shown[before[i].ID] {
			a.list[j].Superseded, a.list[j].By = true, e.by()
		}
	}
	// What is new goes behind what stands before it in the list.
	for i := range after {
		if j, ok := a.at[after[i].ID]; ok {
			a.list[j] = StoredMessage{Message: a.list[j].Message}
			continue
		}
		pos := 0
		if i > 0 {
			pos = a.at[after[i-1].ID] + 1
		}
		a.list = slices.Insert(a.list, pos, StoredMessage{Message: after[i]})
		for j := pos; j < len(a.list); j++ {
			a.at[a.list[j].ID] = j
		}
	}
}

// by names what an entry did, for a message that it took away.
func (e *Entry) by() string {
	switch {
	case e.Rollback != nil:
		return byRollback
	case e.Rewrite != nil && e.Rewrite.Record != nil:
		return e.Rewrite.Record.ID
	}
	return byPruning
}
