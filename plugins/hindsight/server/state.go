package server

import (
	"encoding/json"
	"slices"
	"time"
)

const (
	// maxOperations is how many operations are remembered.
	maxOperations = 64
	// stateKey is where the state is stored, below the bank's prefix.
	stateKey = "state.json"
)

// state is what later calls have to know.
type state struct {
	// URL is of the server that the next two are about.
	URL string `json:"url,omitempty"`
	// NotBefore is until when the server is left alone.
	NotBefore time.Time `json:"not_before,omitzero"`
	// Greeted is what the server was told about.
	Greeted string `json:"greeted,omitempty"`
	// Head is the request that was last sent in vain, and Attempts how often.
	Head     string `json:"head,omitempty"`
	Attempts int    `json:"attempts,omitempty"`
	// Operations are what the server works on, oldest first.
	Operations []string `json:"operations,omitempty"`
}

// readState is a state as it was stored, about this server. One that cannot be
// read is replaced by an empty one.
func (b *Bank) readState(doc string) (s state) {
	if json.Unmarshal([]byte(doc), &s) != nil {
		s = state{}
	}
	if s.URL != b.URL {
		s.URL, s.NotBefore, s.Greeted = b.URL, time.Time{}, ""
	}
	return s
}

func (b *Bank) loadState() {
	doc, _, err := b.KV.Get(b.Prefix + stateKey)
	if err != nil {
		b.Warn("what is known of it cannot be read: %v", err)
	}
	b.state = b.readState(doc)
}

// note changes the state, and once more when it is saved: other calls may have
// changed it meanwhile.
func (b *Bank) note(change func(s *state)) {
	change(&b.state)
	b.changes = append(b.changes, change)
}

// saveState makes this call's changes of what is stored by now.
func (b *Bank) saveState() {
	if len(b.changes) == 0 {
		return
	}
	err := b.KV.Update(b.Prefix+stateKey, func(stored string) string {
		s := b.readState(stored)
		for _, change := range b.changes {
			change(&s)
		}
		doc, _ := json.Marshal(s) // texts, a number and a time
		return string(doc)
	})
	if err != nil {
		b.Warn("what is known of it cannot be stored: %v", err)
	}
	b.changes = nil
}

// pause leaves the server alone until then.
func (s *state) pause(until time.Time) {
	if until.After(s.NotBefore) {
		s.NotBefore = until
	}
}

// failed counts an attempt to send a request.
func (s *state) failed(key string) {
	if s.Head != key {
		s.Head, s.Attempts = key, 0
	}
	s.Attempts++
}

// sent forgets the attempts, and remembers the operations of the answer.
func (s *state) sent(key string, operations []string) {
	if s.Head == key {
		s.Head, s.Attempts = "", 0
	}
	s.ended(operations)
	s.Operations = append(s.Operations, operations...)
	if over := len(s.Operations) - maxOperations; over > 0 {
		s.Operations = s.Operations[over:]
	}
}

// ended forgets operations.
func (s *state) ended(operations []string) {
	s.Operations = slices.DeleteFunc(s.Operations, func(id string) bool { return slices.Contains(operations, id) })
}

// goesOn puts an operation behind the others, to be looked at after them.
func (s *state) goesOn(id string) {
	s.ended([]string{id})
	s.Operations = append(s.Operations, id)
}
