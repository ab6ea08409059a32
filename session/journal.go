package session

import (
	"context"
	"fmt"
	"slices"
	"sync"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/msgid"
)

// Entry is one thing that happened to a session. A session is the list of its
// entries: none is ever taken out, so everything can be undone. Exactly one of
// Append, Rewrite, Rollback, Proposed and Rejected is set.
type Entry struct {
	// Seq counts the entries of a session, from one.
	Seq int `json:"seq"`
	// Time is when it happened, in RFC 3339.
	Time string `json:"time"`
	// Append are messages that arrived.
	Append []abi.Message `json:"append,omitempty"`
	// Rewrite is what a compaction or a pruning made of the list.
	Rewrite *Rewrite `json:"rewrite,omitempty"`
	// Rollback is the number of the entry to which the session goes back, 0 for
	// its very beginning.
	Rollback *int `json:"rollback,omitempty"`
	// Through, with Rollback, is the id of the last message that stays of the list as it was then.
	// Empty: all of it stays.
	Through string `json:"through,omitempty"`
	// Proposed is a compaction that waits for the operator. It waits until it is
	// rejected, or another list takes the place of the one it was made of.
	Proposed *Proposal `json:"proposed,omitempty"`
	// Rejected is the decision of an operator against the compaction that waited.
	Rejected *Rejection `json:"rejected,omitempty"`
}

// Arrive makes e the entry of messages that arrive. A message without an id gets one. An id that is
// there twice, or that is taken, is a usage error. taken reports whether the session has, or ever had,
// a message of an id.
func (e *Entry) Arrive(msgs []abi.Message, taken func(id string) bool) error {
	msgs = msgid.Fill(msgs, nil, taken)
	now := make(map[string]bool, len(msgs))
	for i := range msgs {
		id, role := msgs[i].ID, msgs[i].Role
		if now[id] || taken(id) {
			return usage("append", "message %d: id %q: every message of a session needs an id of its own, "+
				"also beside those that were superseded", i, id)
		}
		if !role.Valid() {
			return usage("append", "message %d: role %q: use system, user, assistant or tool", i, role)
		}
		now[id] = true
	}
	e.Append = slices.Clone(msgs)
	return nil
}

// Proposal is a compaction as it would be applied to the list of the entry that proposed it.
type Proposal struct {
	Rewrite Rewrite         `json:"rewrite"`
	Report  kagewasm.Report `json:"report"`
	// Heard and Said are what models and plugins answered.
	Heard []kagewasm.Heard `json:"heard,omitempty"`
	Said  []kagewasm.Heard `json:"said,omitempty"`
}

// Rejection is a decision against a compaction that waited.
type Rejection struct {
	// ID is the id of the compaction's record.
	ID  string `json:"id"`
	Why string `json:"why"`
	// Quiet is a size in tokens up to which no other compaction is proposed.
	Quiet int `json:"quiet"`
}

// Rewrite is a new list in terms of the one before it.
type Rewrite struct {
	// Order are the ids of the new list.
	Order []string `json:"order"`
	// New are the messages of the new list that were not in the old one, or that had longer tool
	// output, arguments or words of a person there.
	New []abi.Message `json:"new,omitempty"`
	// Record is the compaction; nil for pruning, which is none.
	Record *abi.Record `json:"record,omitempty"`
}

// Journal stores the entries of sessions. Implementations are safe for
// concurrent use.
type Journal interface {
	// Append stores an entry. Where its Seq is not the next one of the session another writer was
	// faster: the error has the code conflict, and nothing is stored.
	Append(ctx context.Context, session string, e Entry) error
	// Load returns all entries of a session, oldest first, and none for a session that is not known.
	Load(ctx context.Context, session string) ([]Entry, error)
}

// MemoryJournal is a Journal that lives as long as its process. The zero value
// is ready for use.
type MemoryJournal struct {
	mu sync.Mutex
	of map[string][]Entry
}

var _ Journal = (*MemoryJournal)(nil)

// Append implements Journal.
func (j *MemoryJournal) Append(_ context.Context, session string, e Entry) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if next := len(j.of[session]) + 1; e.Seq != next {
		return &abi.Error{Code: abi.CodeConflict, Op: "journal",
			Message: fmt.Sprintf("session %q: entry %d, and %d is the next", session, e.Seq, next),
			Hint:    "somebody else wrote to the session: open it again"}
	}
	if j.of == nil {
		j.of = make(map[string][]Entry)
	}
	j.of[session] = append(j.of[session], e)
	return nil
}

// Load implements Journal.
func (j *MemoryJournal) Load(_ context.Context, session string) ([]Entry, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.of[session]), nil
}
