package session

import (
	"cmp"
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
	// Gone are those that the model does not see, and what took them away, as far as
	// the entry changes that. Back are the ids that it sees again.
	Gone []Mark
	Back []string
	// Shown is how many more the model sees.
	Shown int
}

// Mark is what took a message away, empty where the model sees it.
type Mark struct{ ID, By string }

// Placed is a new message with the id of the one that it stands behind: the empty
// one stands before all, and what arrives behind all.
type Placed struct {
	abi.Message
	Behind string
	Last   bool
}

// EffectOf says what an entry does to the messages. all are their marks before it;
// after is the list and inForce are the records that it leaves. An entry that appends
// needs none of the three.
func EffectOf(e *Entry, all []Mark, after []abi.Message, inForce []abi.Record) (f Effect) {
	switch {
	case e.Proposed != nil, e.Rejected != nil:
		return f
	case e.Rewrite == nil && e.Rollback == nil:
		for _, m := range e.Append {
			f.New = append(f.New, Placed{Message: m, Last: true})
		}
		f.Shown = len(f.New)
		return f
	}
	by := e.by(inForce)
	known, shown := make(map[string]bool, len(all)), set.Of(idsOf(after)...)
	for _, m := range all {
		known[m.ID] = true
		switch now := by(m); {
		case shown[m.ID] && m.By != "":
			f.Back = append(f.Back, m.ID)
		case !shown[m.ID] && now != m.By:
			f.Gone = append(f.Gone, Mark{m.ID, now})
			if m.By == "" {
				f.Shown--
			}
		}
	}
	behind := ""
	for i := range after {
		if !known[after[i].ID] {
			f.New = append(f.New, Placed{Message: after[i], Behind: behind})
		}
		behind = after[i].ID
	}
	f.Shown += len(f.New) + len(f.Back)
	return f
}

// by says what took a message away that the model does not see behind an entry. Behind
// a rollback that is the compaction in force which superseded it, or the rollback
// itself.
func (e *Entry) by(inForce []abi.Record) func(Mark) string {
	if e.Rewrite != nil {
		name := byPruning
		if e.Rewrite.Record != nil {
			name = e.Rewrite.Record.ID
		}
		return func(m Mark) string { return cmp.Or(m.By, name) }
	}
	superseded := make(map[string]string)
	for i := range inForce {
		for _, id := range inForce[i].Superseded {
			superseded[id] = inForce[i].ID
		}
	}
	return func(m Mark) string {
		if m.By == byPruning {
			return m.By
		}
		return cmp.Or(superseded[m.ID], byRollback)
	}
}

// archive is every message there ever was, as it came, in the order they came.
// An inserted one stands where it was inserted into the list. What arrives costs
// no more than itself; a rewritten list costs a look at all.
type archive struct {
	list    []StoredMessage
	at      map[string]int // into list, by id
	arrived map[string]int // the number of the entry that brought a message
}

// has reports whether messages stand together behind the first so many, those without an id under any.
func (a *archive) has(after int, msgs []abi.Message) bool {
	list := a.list[min(after, len(a.list)):]
	for from := 0; from+len(msgs) <= len(list) && len(msgs) > 0; from++ {
		same := true
		for i := range msgs {
			m := msgs[i]
			m.ID = cmp.Or(m.ID, list[from+i].ID)
			same = same && list[from+i].Same(&m)
		}
		if same {
			return true
		}
	}
	return false
}

// get is a message as it came, or nil.
func (a *archive) get(id string) *abi.Message {
	if i, ok := a.at[id]; ok {
		return new(a.list[i].Message)
	}
	return nil
}

// take takes in an entry, with the session as it left it.
func (a *archive) take(e *Entry, after *point) {
	if a.at == nil {
		a.at, a.arrived = make(map[string]int), make(map[string]int)
	}
	for _, m := range e.Append {
		a.arrived[m.ID] = e.Seq
	}
	var all []Mark
	if e.Rewrite != nil || e.Rollback != nil {
		all = lists.Map(a.list, func(m StoredMessage) Mark { return Mark{m.ID, m.By} })
	}
	f := EffectOf(e, all, after.messages, after.records)
	for _, g := range f.Gone {
		m := &a.list[a.at[g.ID]]
		m.Superseded, m.By = true, g.By
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
