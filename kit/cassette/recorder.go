package cassette

import (
	"bytes"
	"encoding/json"
	"sync"

	"github.com/kagewasm/kagewasm/abi"
)

// Recorder makes calls and records them. It implements runtime.Cassette; the zero value
// is an empty recording.
type Recorder struct {
	mu      sync.Mutex
	entries []entry
}

// Answer makes the call and records it. What the operator denied says nothing about
// those who are asked, and is not recorded.
func (r *Recorder) Answer(op abi.Op, request json.RawMessage, live func() abi.HostResponse) abi.HostResponse {
	answer := live()
	if e := answer.Error; e != nil && (e.Code == abi.CodeDenied || e.Code == abi.CodeQuota || e.Code == abi.CodeCanceled) {
		return answer
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.entries = append(r.entries, entry{Op: op, Request: request, Response: answer.Result, Error: answer.Error})
	return answer
}

// kept are the calls so far, in their order, but for those at the end that
// had the same answer as the one before them: replaying gives it again anyway.
func (r *Recorder) kept() ([]entry, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	byKey := make(map[string][]int)
	for i, e := range r.entries {
		k, err := key(e.Op, e.Request)
		if err != nil {
			return nil, err
		}
		byKey[k] = append(byKey[k], i)
	}
	idle := make(map[int]bool)
	for _, list := range byKey {
		for n := len(list) - 1; n > 0 && same(r.entries[list[n]], r.entries[list[n-1]]); n-- {
			idle[list[n]] = true
		}
	}
	var kept []entry
	for i, e := range r.entries {
		if !idle[i] {
			kept = append(kept, e)
		}
	}
	return kept, nil
}

// same reports whether two answers are the same, but for the date that servers
// put into theirs.
func same(a, b entry) bool {
	x, errX := json.Marshal(undated(a))
	y, errY := json.Marshal(undated(b))
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

func undated(e entry) entry {
	var r abi.HTTPResponse
	if e.Op != abi.OpHTTP || json.Unmarshal(e.Response, &r) != nil {
		return e
	}
	delete(r.Headers, "date")
	if doc, err := json.Marshal(r); err == nil {
		e.Response = doc
	}
	return e
}

// Encode writes the recording, a line for each of its entries.
func (r *Recorder) Encode() ([]byte, error) {
	entries, err := r.kept()
	if err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	for _, e := range entries {
		if err := enc.Encode(e); err != nil {
			return nil, err
		}
	}
	return buf.Bytes(), nil
}
