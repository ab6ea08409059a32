// Package tape keeps what a call of a plugin depends on beside its input, so that the call can
// be made again: its settings, and what its host calls were answered. A host asks for it
// through the context of the call, see [Tape.In].
package tape

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/kagewasm/kagewasm/abi"
)

// MaxBytes is how much the answers of one call may take. What is over keeps none of them.
const MaxBytes = 1 << 20

// Tape is of one call. The zero value records.
type Tape struct {
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
	plays  bool
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

type tapeKey struct{}

// In is a context whose calls are recorded, or answered from the tape.
func (t *Tape) In(ctx context.Context) context.Context { return context.WithValue(ctx, tapeKey{}, t) }

// Of is the tape of a context, nil where there is none.
func Of(ctx context.Context) *Tape {
	t, _ := ctx.Value(tapeKey{}).(*Tape)
	return t
}

// Player is a tape that answers as it was recorded, from the beginning.
func (t *Tape) Player() *Tape {
	return &Tape{Call: t.Call, Time: t.Time, Input: t.Input, Config: t.Config, Limits: t.Limits, Answers: t.Answers,
		plays: true}
}

// Plays reports whether the tape answers. A nil one does not.
func (t *Tape) Plays() bool { return t != nil && t.plays }

// Begin notes how a call is made. Where the tape plays it holds the input to the one that was recorded.
func (t *Tape) Begin(call, time string, input []byte, config abi.Config, limits abi.Limits) {
	if t == nil {
		return
	}
	if t.plays {
		if sum := Digest(input); sum != t.Input {
			t.miss("its input is another one")
		}
		return
	}
	t.Call, t.Time, t.Input, t.Config, t.Limits = call, time, Digest(input), config, limits
}

// Digest tells documents apart.
func Digest(doc []byte) string {
	sum := sha256.Sum256(doc)
	return hex.EncodeToString(sum[:16])
}

// from are the ops whose answers come from outside of a call.
var from = map[abi.Op]bool{abi.OpKVGet: true, abi.OpKVSet: true, abi.OpKVDelete: true, abi.OpKVList: true,
	abi.OpTokensCount: true, abi.OpMessagesSearch: true, abi.OpHTTP: true, abi.OpModelComplete: true}

// Record keeps an answer, where the tape records.
func (t *Tape) Record(op string, request, response []byte) {
	if t == nil || t.plays || !from[abi.Op(op)] {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.bytes += len(response) + len(op) + 64; t.bytes > MaxBytes {
		t.Answers, t.Over = nil, true
		return
	}
	t.Answers = append(t.Answers, Answer{abi.Op(op), Digest(request), json.RawMessage(string(response))})
}

// Answer is the recorded answer of the next call. It is false for ops that are answered
// anew, and where the tape does not play.
func (t *Tape) Answer(op abi.Op, request []byte) (response []byte, err error, taped bool) {
	if !t.Plays() || !from[op] {
		return nil, nil, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next++
	switch {
	case t.next > len(t.Answers):
		t.missed = first(t.missed, fmt.Sprintf("%s is one host call more than were made", op))
	case t.Answers[t.next-1].Op != op:
		t.missed = first(t.missed, fmt.Sprintf("host call %d is %s, and was %s", t.next, op, t.Answers[t.next-1].Op))
	case t.Answers[t.next-1].Request != Digest(request):
		t.missed = first(t.missed, fmt.Sprintf("host call %d, %s, asks something else", t.next, op))
	default:
		return t.Answers[t.next-1].Response, nil, true
	}
	return nil, &abi.Error{Code: abi.CodeNotRecorded, Op: string(op), Message: "it was not asked this"}, true
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func (t *Tape) miss(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.missed = first(t.missed, what)
}

// Missed says how the call that was answered was another one than that which was recorded;
// empty where it was not.
func (t *Tape) Missed() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.missed == "" && t.next < len(t.Answers) {
		return fmt.Sprintf("it makes %d host calls, and made %d", t.next, len(t.Answers))
	}
	return t.missed
}
