package session

import (
	"cmp"
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/set"
)

// StoredMessage is a message with what became of it.
type StoredMessage struct {
	abi.Message
	// Superseded: the model does not see it any more.
	Superseded bool `json:"superseded,omitempty"`
	// By is the id of the compaction that superseded it, "pruning" or "rollback".
	By string `json:"superseded_by,omitempty"`
	// Shortened: the model sees only a part of it.
	Shortened bool `json:"shortened,omitempty"`
}

// The values of StoredMessage.By where no compaction superseded the message.
const (
	byRollback = "rollback"
	byPruning  = "pruning"
)

// Effect is what an entry changes in all the messages there ever were. A journal that keeps messages as
// rows applies it to those. [EffectOf] returns it.
type Effect struct {
	// New are the messages that were not there before.
	New []Placed
	// Gone are the messages that the model does not see any more, and those that something else hides
	// now, each with what hides it. Back are the ids of messages that the model sees again.
	Gone []Mark
	Back []string
	// Shown is by how many the messages that the model sees have grown; negative where they are fewer.
	Shown int
}

// Mark says for a message by its id what hides it from the model: see [StoredMessage].By. By is empty
// where the model sees it.
type Mark struct{ ID, By string }

// Placed is a new message with its place among all. Behind is the id of the message right before it,
// empty where it is the first. Last says that it arrived, and stands after all others; Behind is then
// not used.
type Placed struct {
	abi.Message
	Behind string
	Last   bool
}

// EffectOf returns what an entry does to the messages. all are the marks of all messages before it.
// after is the list that it leaves, and inForce are the records of compactions that it leaves in force.
// An entry that appends needs none of the three.
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

// by returns what hides a message that the model does not see after an entry. After a rollback that is
// the compaction in force which superseded the message, or the rollback itself.
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

// archive holds every message there ever was, as it came. A session may have thousands of compactions: what an entry
// costs depends on the messages that the model saw before and after it, and not on all there ever were.
type archive struct {
	list    []StoredMessage // in the order in which the session got them
	at      map[string]int  // into list, by id
	arrived map[string]int  // the number of the entry that brought a message
	// The order of the conversation: an inserted message stands where it was inserted. next has for each of list the
	// place of the one that follows it; first and last are places too. Places count from 1, 0 is none.
	next        []int
	first, last int
}

// has reports whether msgs came into the archive in a row, somewhere after its first so many messages.
// One without an id matches any id.
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

// get returns a message as it came, or nil.
func (a *archive) get(id string) *abi.Message {
	if i, ok := a.at[id]; ok {
		return new(a.list[i].Message)
	}
	return nil
}

// ordered returns the messages in the order of the conversation.
func (a *archive) ordered() []StoredMessage {
	list := make([]StoredMessage, 0, len(a.list))
	for at := a.first; at > 0; at = a.next[at-1] {
		list = append(list, a.list[at-1])
	}
	return list
}

// take adds an entry. before and after are the session as it was and as the entry left it.
func (a *archive) take(e *Entry, before, after *point) {
	if a.at == nil {
		a.at, a.arrived = make(map[string]int), make(map[string]int)
	}
	for _, m := range e.Append {
		a.arrived[m.ID] = e.Seq
	}
	f := EffectOf(e, a.touched(e, before, after), after.messages, after.records)
	for _, g := range f.Gone {
		m := &a.list[a.at[g.ID]]
		m.Superseded, m.By = true, g.By
	}
	for _, id := range f.Back {
		m := &a.list[a.at[id]]
		m.Superseded, m.By = false, ""
	}
	for _, m := range f.New {
		a.put(m)
	}
}

// touched are the marks of the messages that an entry may change: those that the model saw before or sees after it,
// and after a rollback those of compactions that are not in force any more, or are again.
func (a *archive) touched(e *Entry, before, after *point) (marks []Mark) {
	if e.Rewrite == nil && e.Rollback == nil {
		return nil
	}
	seen := make(map[string]bool, len(before.messages)+len(after.messages))
	touch := func(id string) {
		if i, ok := a.at[id]; ok && !seen[id] {
			seen[id] = true
			marks = append(marks, Mark{id, a.list[i].By})
		}
	}
	for _, list := range [][]abi.Message{before.messages, after.messages} {
		for i := range list {
			touch(list[i].ID)
		}
	}
	if e.Rollback != nil {
		for _, r := range changed(before.records, after.records) {
			for _, id := range r.Superseded {
				touch(id)
			}
		}
	}
	return marks
}

// changed are the compactions that are in one of two lists alone. Histories share their beginnings.
func changed(was, is []abi.Record) []abi.Record {
	same := 0
	for same < len(was) && same < len(is) && was[same].ID == is[same].ID {
		same++
	}
	return slices.Concat(was[same:], is[same:])
}

// put adds a message in its place.
func (a *archive) put(m Placed) {
	a.list, a.next = append(a.list, StoredMessage{Message: m.Message}), append(a.next, 0)
	place := len(a.list)
	a.at[m.ID] = place - 1
	behind := a.last
	if !m.Last {
		behind = 0
		if i, ok := a.at[m.Behind]; ok && m.Behind != "" {
			behind = i + 1
		}
	}
	follows := &a.first
	if behind > 0 {
		follows = &a.next[behind-1]
	}
	a.next[place-1], *follows = *follows, place
	if behind == a.last {
		a.last = place
	}
}
