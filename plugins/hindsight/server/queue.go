package server

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/kagewasm/kagewasm/abi"
)

const (
	// maxQueued is how many requests wait at most: the oldest are given up for
	// newer ones.
	maxQueued = 64
	// maxSent is how many are sent in one call, an HTTP request each. With those
	// of [Bank.Recall], greet and follow they are the 16 that a call may make.
	maxSent = 8
	// maxAttempts is how often a request is sent that the server fails on.
	maxAttempts = 5
)

// queue is the requests that wait, in the keys below prefix, oldest first.
type queue struct {
	kv     KV
	prefix string
	now    time.Time
	warn   func(format string, args ...any)
	lost   func(format string, args ...any)
}

func (b *Bank) queue() queue { return queue{b.KV, b.Prefix + "queue/", b.now, b.Warn, b.Lost} }

func (q queue) keys() ([]string, error) { return q.kv.List(q.prefix) }

// add puts a request behind those that wait. Its key is a number and its
// operation: two calls that take the same number at the same time have a key
// each.
func (q queue) add(r retainRequest) error {
	keys, err := q.keys()
	if err != nil {
		return err
	}
	doc, _ := json.Marshal(r) // texts
	key := fmt.Sprintf("%s%015d-%s.json", q.prefix, q.nextNumber(keys), r.OperationID)
	if err := q.kv.Swap(key, "", string(doc)); err != nil && abi.CodeOf(err) != abi.CodeConflict {
		return err // in a conflict the same request stands there
	}
	if over := len(keys) + 1 - maxQueued; over > 0 {
		q.lost("more than %d requests wait: the oldest are given up: %d", maxQueued, over)
		for _, key := range keys[:over] {
			q.drop(key)
		}
	}
	return nil
}

// nextNumber is over those of what waits, and of what waited at any time
// before: it is the time, in milliseconds.
func (q queue) nextNumber(keys []string) int64 {
	next := max(0, q.now.UnixMilli())
	if n := len(keys); n > 0 {
		number, _, _ := strings.Cut(strings.TrimPrefix(keys[n-1], q.prefix), "-")
		if last, err := strconv.ParseInt(number, 10, 64); err == nil && last >= next {
			next = last + 1
		}
	}
	return next
}

func (q queue) drop(key string) {
	if err := q.kv.Delete(key); err != nil {
		q.warn("%s cannot be taken out of the queue: %v", key, err)
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
		b.queue().drop(key)
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
	if err == nil {
		b.note(func(s *state) { s.sent(key, resp.operations()) })
		return true
	}
	if b.hopeless(key, err) {
		b.Lost("%s is given up: %v", key, err)
		return true
	}
	b.down = cmp.Or(b.down, err)
	return false
}

// hopeless reports whether a request is not worth sending again: it is
// refused, or has failed by itself too often.
func (b *Bank) hopeless(key string, err error) bool {
	switch {
	case errors.As(err, new(refusal)):
		return true
	case errors.As(err, new(fault)), abi.CodeOf(err) == abi.CodeQuota && !b.spent():
		b.note(func(s *state) { s.failed(key) })
		return b.state.Attempts >= maxAttempts
	}
	return false
}

// spent reports whether a request over a quota was one too many, rather than
// too long or answered at too great length: then any other one is as well.
func (b *Bank) spent() bool { return abi.CodeOf(b.call("GET", "/version", nil, nil)) == abi.CodeQuota }
