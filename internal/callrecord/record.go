// Package callrecord records what a call of a plugin depends on beside its input: its settings, and the
// answers to its host calls. With that the call can be made again. A host asks for it through the context
// of the call, see [Record.In].
package callrecord

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/kagewasm/kagewasm/abi"
)

// MaxBytes bounds the answers of one call. A call with more keeps none of them.
const MaxBytes = 1 << 20

// Record is of one call. The zero value records.
type Record struct {
	// Call and Time are those of the input, Input is its digest.
	Call  string `json:"call"`
	Time  string `json:"time"`
	Input string `json:"input"`
	// Config are the values of its knobs, Limits what it was held to.
	Config abi.Config `json:"config,omitempty"`
	Limits abi.Limits `json:"limits,omitzero"`
	// Answers are of its host calls, in order: those whose answers come from outside of the
	// call. Secrets that the host wrote into requests are not in them.
	Answers []Answer `json:"answers,omitempty"`
	// Over: there were more than are kept.
	Over bool `json:"over,omitempty"`

	mu     sync.Mutex
	replay bool
	bytes  int
	next   int
	missed string
}

// Answer is what a host call was answered: the whole envelope.
type Answer struct {
	Op abi.Op `json:"op"`
	// Request is a digest of what was asked.
	Request  string          `json:"request"`
	Response json.RawMessage `json:"response"`
}

type recordKey struct{}

// In is a context whose calls are recorded, or answered from the record.
func (r *Record) In(ctx context.Context) context.Context {
	return context.WithValue(ctx, recordKey{}, r)
}

// Of is the record of a context, nil where there is none.
func Of(ctx context.Context) *Record {
	r, _ := ctx.Value(recordKey{}).(*Record)
	return r
}

// Replay is a record that answers what was recorded, from the beginning.
func (r *Record) Replay() *Record {
	return &Record{Call: r.Call, Time: r.Time, Input: r.Input, Config: r.Config, Limits: r.Limits, Answers: r.Answers,
		replay: true}
}

// Replays reports whether the record answers. A nil one does not.
func (r *Record) Replays() bool { return r != nil && r.replay }

// Begin notes how a call is made. A replay compares its input with the one that was recorded.
func (r *Record) Begin(call, time string, input []byte, config abi.Config, limits abi.Limits) {
	if r == nil {
		return
	}
	if r.replay {
		if sum := Digest(input); sum != r.Input {
			r.miss("its input is another one")
		}
		return
	}
	r.Call, r.Time, r.Input, r.Config, r.Limits = call, time, Digest(input), config, limits
}

// Digest tells documents apart.
func Digest(doc []byte) string {
	sum := sha256.Sum256(doc)
	return hex.EncodeToString(sum[:16])
}

// from are the ops whose answers come from outside of a call.
var from = map[abi.Op]bool{abi.OpKVGet: true, abi.OpKVSet: true, abi.OpKVDelete: true, abi.OpKVList: true,
	abi.OpTokensCount: true, abi.OpMessagesSearch: true, abi.OpHTTP: true, abi.OpModelComplete: true}

// Add keeps an answer, where the record is no replay.
func (r *Record) Add(op string, request, response []byte) {
	if r == nil || r.replay || !from[abi.Op(op)] {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.bytes += len(response) + len(op) + 64; r.bytes > MaxBytes {
		r.Answers, r.Over = nil, true
		return
	}
	r.Answers = append(r.Answers, Answer{abi.Op(op), Digest(request), json.RawMessage(string(response))})
}

// Answer is the recorded answer to the next call. It is false for ops that are answered live, and where
// nothing is replayed.
func (r *Record) Answer(op abi.Op, request []byte) (response []byte, err error, recorded bool) {
	if !r.Replays() || !from[op] {
		return nil, nil, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next++
	switch {
	case r.next > len(r.Answers):
		r.missed = first(r.missed, fmt.Sprintf("%s is one host call more than were made", op))
	case r.Answers[r.next-1].Op != op:
		r.missed = first(r.missed, fmt.Sprintf("host call %d is %s, and was %s", r.next, op, r.Answers[r.next-1].Op))
	case r.Answers[r.next-1].Request != Digest(request):
		r.missed = first(r.missed, fmt.Sprintf("host call %d, %s, asks something else", r.next, op))
	default:
		return r.Answers[r.next-1].Response, nil, true
	}
	return nil, &abi.Error{Code: abi.CodeNotRecorded, Op: string(op), Message: "it was not asked this"}, true
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func (r *Record) miss(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.missed = first(r.missed, what)
}

// Missed says how the call that was answered was another one than that which was recorded;
// empty where it was not.
func (r *Record) Missed() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.missed == "" && r.next < len(r.Answers) {
		return fmt.Sprintf("it makes %d host calls, and made %d", r.next, len(r.Answers))
	}
	return r.missed
}
