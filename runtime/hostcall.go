package runtime

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/kagewasm/kagewasm/abi"
)

// op answers one kind of host call. The result is encoded into the envelope.
type op func(ctx context.Context, c *call, request []byte) (any, error)

var ops = map[abi.Op]op{
	abi.OpLog:            typed((*call).log),
	abi.OpKVGet:          typed((*call).kvGet),
	abi.OpKVSet:          typed((*call).kvSet),
	abi.OpKVDelete:       typed((*call).kvDelete),
	abi.OpKVList:         typed((*call).kvList),
	abi.OpTokensCount:    typed((*call).countTokens),
	abi.OpMessagesGet:    typed((*call).messages),
	abi.OpRequestCompact: typed((*call).requestCompaction),
	abi.OpHTTP:           typed((*call).http),
	abi.OpModelComplete:  typed((*call).complete),
}

const (
	maxOpBytes      = 64
	maxRequestBytes = 4 << 20
	// opUnknown counts the calls of ops that do not exist.
	opUnknown abi.Op = "unknown"
)

// typed decodes the request strictly before f sees it.
func typed[T any](f func(*call, context.Context, T) (any, error)) op {
	known := abi.Keys(*new(T))
	return func(ctx context.Context, c *call, request []byte) (any, error) {
		var v T
		if err := decodeStrict(request, known, &v); err != nil {
			return nil, &abi.Error{Code: abi.CodeUsage, Op: "decode request", Message: err.Error()}
		}
		return f(c, ctx, v)
	}
}

func decodeStrict(doc []byte, known map[string]bool, v any) error {
	if err := abi.CheckJSON(doc, known); err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.DisallowUnknownFields()
	return dec.Decode(v)
}

// hostCall runs one op and returns the envelope.
func (c *call) hostCall(ctx context.Context, name, request []byte) []byte {
	result, err := c.runOp(ctx, name, request)
	var resp abi.HostResponse
	if err == nil && result != nil {
		resp.Result, err = json.Marshal(result)
	}
	if err == nil && int64(len(resp.Result)) > c.memory.limit {
		err = &abi.Error{Code: abi.CodeQuota, Message: fmt.Sprintf("a response of %d bytes does not fit the memory of the call", len(resp.Result))}
	}
	if err == nil {
		err = c.carry(len(resp.Result))
	}
	if err != nil {
		resp = abi.HostResponse{Error: c.opError(name, err)}
	}
	doc, err := json.Marshal(resp)
	if err != nil {
		// Both fields are made here, of what encodes.
		panic(err)
	}
	return doc
}

func (c *call) runOp(ctx context.Context, name, request []byte) (any, error) {
	run, ok := ops[abi.Op(name)]
	counted := opUnknown
	if ok {
		counted = abi.Op(name)
	}
	if err := c.admit(counted, len(request)); err != nil {
		return nil, err
	}
	if !ok {
		return nil, &abi.Error{Code: abi.CodeUsage, Message: "no such host call"}
	}
	return run(ctx, c, request)
}

// admit counts a host call and its request, or says which limit is used up.
func (c *call) admit(op abi.Op, request int) error {
	if c.calls >= c.limits.HostCalls {
		return &abi.Error{Code: abi.CodeQuota, Message: fmt.Sprintf("more than %d host calls", c.limits.HostCalls), Hint: "raise its limit (--limit host_calls=N)"}
	}
	c.calls++
	if c.hostCalls == nil {
		c.hostCalls = make(map[abi.Op]int)
	}
	c.hostCalls[op]++
	if request > maxRequestBytes {
		return &abi.Error{Code: abi.CodeQuota, Message: fmt.Sprintf("a request of %d bytes, %d allowed", request, maxRequestBytes)}
	}
	return c.carry(request)
}

// carry counts bytes that cross between guest and host in host calls.
func (c *call) carry(n int) error {
	if int64(n) > int64(c.limits.HostCallBytes)-c.hostBytes {
		return &abi.Error{Code: abi.CodeQuota, Message: fmt.Sprintf("more than %d bytes in host calls", c.limits.HostCallBytes), Hint: "raise its limit (--limit host_call_bytes=N)"}
	}
	c.hostBytes += int64(n)
	return nil
}

// opError is the error a guest gets to see: of an *abi.Error the code and the
// text, of any other that there was one. The host sees all of it in the
// warnings.
func (c *call) opError(name []byte, err error) *abi.Error {
	op := shorten(string(name[:min(len(name), maxOpBytes)]), maxOpBytes)
	e := abi.AsError(err)
	if e.Code == abi.CodeInternal {
		c.warn(op + ": " + err.Error())
		return &abi.Error{Code: abi.CodeInternal, Op: op, Message: "internal error"}
	}
	seen := *e
	seen.Op, seen.Err = op, nil
	return &seen
}

// need reports that a capability is missing.
func (c *call) need(capability abi.Capability) error {
	switch asked, granted := c.plugin.asks(capability), c.plugin.grants.Allows(capability); {
	case !asked:
		return &abi.Error{Code: abi.CodeDenied, Message: fmt.Sprintf("the manifest does not ask for the capability %s", capability), Hint: "name it under capabilities, with a reason"}
	case !granted:
		return &abi.Error{Code: abi.CodeDenied, Message: fmt.Sprintf("the capability %s is not granted", capability), Hint: "the operator grants it in the configuration"}
	}
	return nil
}

func (c *call) log(_ context.Context, r abi.LogRequest) (any, error) {
	switch r.Level {
	case abi.LogDebug, abi.LogInfo, abi.LogWarn, abi.LogError:
	case "":
		r.Level = abi.LogInfo
	default:
		return nil, &abi.Error{Code: abi.CodeUsage, Message: "level: use debug, info, warn or error"}
	}
	c.logs.add(r.Level, []byte(r.Message))
	return nil, nil
}

func (c *call) messages(ctx context.Context, r abi.MessagesRequest) (any, error) {
	in := c.parsedInput()
	if in == nil {
		return nil, &abi.Error{Code: abi.CodeUsage, Message: "the input of this call has no messages"}
	}
	if len(r.IDs) > len(in.Messages) {
		return nil, &abi.Error{Code: abi.CodeQuota, Message: fmt.Sprintf("%d ids, of %d messages: name each once", len(r.IDs), len(in.Messages))}
	}
	if c.index == nil {
		c.index = make(map[string]int, len(in.Messages))
		for i := range in.Messages {
			c.index[in.Messages[i].ID] = i
		}
	}
	resp := abi.MessagesResponse{Messages: make([]abi.InputMessage, 0, min(len(r.IDs), len(in.Messages)))}
	var size int64
	for _, id := range r.IDs {
		i, ok := c.index[id]
		if !ok {
			return nil, &abi.Error{Code: abi.CodeUnknownID, Message: fmt.Sprintf("no message %q", shorten(id, 80))}
		}
		// A lower bound of what the message encodes to: enough to stop a
		// request that names a long message many times.
		if size += messageSize(&in.Messages[i].Message); size > c.memory.limit {
			return nil, &abi.Error{Code: abi.CodeQuota, Message: "the messages do not fit the memory of the call", Hint: "ask for fewer at a time"}
		}
		resp.Messages = append(resp.Messages, in.Messages[i])
	}
	c.check(ctx)
	return resp, nil
}

func messageSize(m *abi.Message) int64 {
	n := 64 + len(m.ID) + len(m.Content.Text()) + len(m.Raw)
	for _, call := range m.ToolCalls {
		n += 64 + len(call.Arguments)
	}
	return int64(n)
}

func (c *call) requestCompaction(_ context.Context, r abi.CompactionRequest) (any, error) {
	if err := c.need(abi.CapCompactionRequest); err != nil {
		return nil, err
	}
	c.request = &r
	return nil, nil
}
