package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/kagewasm/kagewasm/abi"
)

const (
	// maxQueued is how many requests wait at most: the oldest are given up for
	// newer ones.
	maxQueued = 64
	// maxSent is how many are sent in one call, and maxFollowed how many
	// operations are looked at: an HTTP request each, of 16 that a call may
	// make.
	maxSent     = 8
	maxFollowed = 4
	// maxOperations is how many operations are remembered.
	maxOperations = 64
	// maxAttempts is how often a request is sent that the server fails on.
	maxAttempts = 5
)

// state is what later calls have to know, in the key "state.json".
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

	changed bool
}

func (b *Bank) stateKey() string { return b.Prefix + "state.json" }

func (b *Bank) loadState() {
	doc, found, err := b.KV.Get(b.stateKey())
	switch {
	case err != nil:
		b.Warn("what is known of it cannot be read: %v", err)
	case found:
		// A state that cannot be read is made anew.
		if json.Unmarshal([]byte(doc), &b.state) != nil {
			b.state = state{}
		}
	}
	if b.state.URL != b.URL {
		b.state.URL, b.state.NotBefore, b.state.Greeted = b.URL, time.Time{}, ""
	}
}

func (b *Bank) saveState() {
	if !b.state.changed {
		return
	}
	doc, err := json.Marshal(b.state)
	if err == nil {
		err = b.KV.Set(b.stateKey(), string(doc))
	}
	if err != nil {
		b.Warn("what is known of it cannot be stored: %v", err)
	}
}

func (b *Bank) queuePrefix() string { return b.Prefix + "queue/" }

// queued are the keys of what waits, oldest first.
func (b *Bank) queued() ([]string, error) { return b.KV.List(b.queuePrefix()) }

// enqueue puts a request behind those that wait.
func (b *Bank) enqueue(r retainRequest) error {
	keys, err := b.queued()
	if err != nil {
		return err
	}
	next := 0
	if n := len(keys); n > 0 {
		number, _, _ := strings.Cut(strings.TrimPrefix(keys[n-1], b.queuePrefix()), ".")
		if next, err = strconv.Atoi(number); err != nil {
			return fmt.Errorf("%s: not a key of the queue", keys[n-1])
		}
		next++
	}
	doc, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := b.KV.Set(fmt.Sprintf("%s%010d.json", b.queuePrefix(), next), string(doc)); err != nil {
		return err
	}
	if over := len(keys) + 1 - maxQueued; over > 0 {
		b.Warn("more than %d requests wait: the oldest are given up: %d", maxQueued, over)
		for _, key := range keys[:over] {
			b.drop(key)
		}
	}
	return nil
}

func (b *Bank) drop(key string) {
	if err := b.KV.Delete(key); err != nil {
		b.Warn("%s cannot be taken out of the queue: %v", key, err)
	}
}

// send sends what waits, as long as the server takes it.
func (b *Bank) send(keys []string) {
	sent := 0
	for _, key := range keys {
		if sent == maxSent || b.down != nil {
			break
		}
		doc, found, err := b.KV.Get(key)
		if err != nil {
			b.Warn("%s: %v", key, err)
			return
		}
		if found && !b.sendOne(key, doc) {
			break
		}
		b.drop(key)
		sent++
	}
	if left := len(keys) - sent; left > 0 {
		why := "the next call goes on"
		if b.down != nil {
			why = b.down.Error()
		}
		b.Warn("requests that wait to be retained: %d: %s", left, why)
	}
}

// sendOne sends a request, and reports whether it is done with.
func (b *Bank) sendOne(key, doc string) bool {
	var resp retainResponse
	err := b.do("POST", "/memories", json.RawMessage(doc), &resp)
	b.state.changed = true
	if err == nil {
		b.state.Head, b.state.Attempts = "", 0
		b.remember(resp)
		return true
	}
	if b.hopeless(key, err) {
		b.Warn("%s is given up: %v", key, err)
		return true
	}
	if b.down == nil {
		b.down = err
	}
	return false
}

// hopeless reports whether a request is not worth sending again: it is
// refused, or the server has failed on it too often.
func (b *Bank) hopeless(key string, err error) bool {
	if errors.As(err, new(refusal)) || abi.CodeOf(err) == abi.CodeQuota {
		return true
	}
	if !errors.As(err, new(fault)) {
		return false
	}
	if b.state.Head != key {
		b.state.Head, b.state.Attempts = key, 0
	}
	b.state.Attempts++
	return b.state.Attempts >= maxAttempts
}

// remember notes the operations of an answer.
func (b *Bank) remember(resp retainResponse) {
	ids := resp.OperationIDs
	if len(ids) == 0 && resp.OperationID != "" {
		ids = []string{resp.OperationID}
	}
	b.state.Operations = append(b.state.Operations, ids...)
	if over := len(b.state.Operations) - maxOperations; over > 0 {
		b.state.Operations = b.state.Operations[over:]
	}
}

// follow looks what became of the oldest operations.
func (b *Bank) follow() {
	list := b.state.Operations
	looked := list[:min(len(list), maxFollowed)]
	rest := append([]string(nil), list[len(looked):]...)
	for i, id := range looked {
		var op operationResponse
		err := b.do("GET", "/operations/"+url.PathEscape(id), nil, &op)
		switch {
		case b.down != nil:
			b.state.Operations = append(rest, looked[i:]...)
			return
		case err != nil:
			b.Warn("operation %s: %v", id, err)
		case op.Status == statusFailed || op.Status == statusCancelled:
			b.Warn("operation %s %s: what it was to retain is not in the bank: %s", id, op.Status, clip(op.ErrorMessage, 200))
		case op.Status != statusCompleted && op.Status != statusNotFound:
			rest = append(rest, id) // it goes on; look again, after the others
		}
		b.state.changed = true
	}
	b.state.Operations = rest
}
