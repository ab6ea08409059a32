// Package memhost is a host in memory: what a handler can ask of one, without
// a module and without a disk. The native Main and guesttest share it.
package memhost

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/kagewasm/kagewasm/abi"
)

// Host answers host calls from memory. The zero value is ready and grants
// everything but the network and a model, which HTTP and Model stand in for. Set the
// fields between calls; methods are safe for concurrent use.
type Host struct {
	// KV is the stored data, by key. Made when first needed.
	KV map[string]string
	// Messages are what messages.get finds.
	Messages []abi.InputMessage
	// Fail makes an op fail with the error: denied, over quota, ...
	Fail map[abi.Op]*abi.Error
	// Count counts tokens. Default: a token for every 4 bytes.
	Count func(text string) int
	// Search answers messages.search. Nil: nothing is found.
	Search func(abi.SearchRequest) (*abi.SearchResponse, error)
	// HTTP answers http, and Model model.complete. Nil: they are denied.
	HTTP  func(abi.HTTPRequest) (*abi.HTTPResponse, error)
	Model func(abi.ModelRequest) (*abi.ModelResponse, error)

	// Logs, Requests and Calls record what was asked, oldest first.
	Logs     []abi.LogRequest
	Requests []abi.CompactionRequest
	Calls    map[abi.Op]int

	mu sync.Mutex
}

// HostCall runs op and returns an [abi.HostResponse].
func (h *Host) HostCall(op abi.Op, request []byte) []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.Calls == nil {
		h.Calls = make(map[abi.Op]int)
	}
	h.Calls[op]++
	result, err := h.answer(op, request)
	resp := abi.HostResponse{Error: abi.AsError(err)}
	if err == nil {
		// Results are plain structs of strings and numbers.
		resp.Result, _ = json.Marshal(result)
	}
	doc, _ := json.Marshal(resp)
	return doc
}

func (h *Host) answer(op abi.Op, request []byte) (any, error) {
	if err := h.Fail[op]; err != nil {
		return nil, err
	}
	switch op {
	case abi.OpLog:
		return nil, decode(request, func(r abi.LogRequest) { h.Logs = append(h.Logs, r) })
	case abi.OpRequestCompact:
		return nil, decode(request, func(r abi.CompactionRequest) { h.Requests = append(h.Requests, r) })
	case abi.OpTokensCount:
		var resp abi.TokensResponse
		return &resp, decode(request, func(r abi.TokensRequest) {
			for _, t := range r.Texts {
				resp.Counts = append(resp.Counts, h.count(t))
			}
		})
	case abi.OpMessagesGet:
		return h.messages(request)
	case abi.OpMessagesSearch:
		if h.Search == nil {
			return &abi.SearchResponse{}, nil
		}
		return ask(op, request, h.Search)
	case abi.OpHTTP:
		return ask(op, request, h.HTTP)
	case abi.OpModelComplete:
		return ask(op, request, h.Model)
	case abi.OpKVGet, abi.OpKVSet, abi.OpKVDelete, abi.OpKVList:
		return h.kv(op, request)
	}
	return nil, &abi.Error{Code: abi.CodeUsage, Op: string(op), Message: "no such host call"}
}

func decode[T any](request []byte, then func(T)) error {
	var v T
	if err := json.Unmarshal(request, &v); err != nil {
		return &abi.Error{Code: abi.CodeUsage, Op: "decode request", Message: err.Error(), Err: err}
	}
	then(v)
	return nil
}

// ask answers by a function of the test's.
func ask[Q, A any](op abi.Op, request []byte, answer func(Q) (*A, error)) (any, error) {
	if answer == nil {
		return nil, &abi.Error{Code: abi.CodeDenied, Op: string(op), Message: "this host has none"}
	}
	var q Q
	if err := decode(request, func(v Q) { q = v }); err != nil {
		return nil, err
	}
	return answer(q)
}

func (h *Host) count(text string) int {
	if h.Count != nil {
		return h.Count(text)
	}
	return (len(text) + 3) / 4
}

func (h *Host) messages(request []byte) (*abi.MessagesResponse, error) {
	var req abi.MessagesRequest
	if err := decode(request, func(r abi.MessagesRequest) { req = r }); err != nil {
		return nil, err
	}
	var resp abi.MessagesResponse
	for _, id := range req.IDs {
		i := slices.IndexFunc(h.Messages, func(m abi.InputMessage) bool { return m.ID == id })
		if i < 0 {
			message := fmt.Sprintf("no message %q", id)
			return nil, &abi.Error{Code: abi.CodeUnknownID, Op: string(abi.OpMessagesGet), Message: message}
		}
		resp.Messages = append(resp.Messages, h.Messages[i])
	}
	return &resp, nil
}

func (h *Host) kv(op abi.Op, request []byte) (*abi.KVResponse, error) {
	var req abi.KVRequest
	if err := decode(request, func(r abi.KVRequest) { req = r }); err != nil {
		return nil, err
	}
	var resp abi.KVResponse
	if op == abi.OpKVList {
		for k := range h.KV {
			if strings.HasPrefix(k, req.Key) {
				resp.Keys = append(resp.Keys, k)
			}
		}
		slices.Sort(resp.Keys)
		return &resp, nil
	}
	if err := abi.CheckKey(req.Key); err != nil {
		return nil, &abi.Error{Code: abi.CodeUsage, Op: string(op), Message: err.Error(), Err: err}
	}
	switch op {
	case abi.OpKVGet:
		resp.Value, resp.Found = h.KV[req.Key]
	case abi.OpKVSet:
		if req.Expect != nil && *req.Expect != h.KV[req.Key] {
			return nil, abi.KeyConflict(req.Key)
		}
		if h.KV == nil {
			h.KV = make(map[string]string)
		}
		h.KV[req.Key] = req.Value
	case abi.OpKVDelete:
		delete(h.KV, req.Key)
	}
	return &resp, nil
}
