package runtime

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

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
		err := abi.CheckJSON(request, known)
		if c.check(ctx); err == nil {
			err = decodeKnown(request, &v)
			c.check(ctx)
		}
		if err != nil {
			return nil, &abi.Error{Code: abi.CodeUsage, Op: "decode request", Message: err.Error()}
		}
		return f(c, ctx, v)
	}
}

// decodeKnown decodes a document that was checked.
func decodeKnown(doc []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.DisallowUnknownFields()
	return dec.Decode(v)
}

// An envelope is a response that is encoded already.
type envelope []byte

// Between these is the result of a host call.
const resultOpen, resultClose = `{"result":`, `}`

// hostCall runs one op and returns the envelope, which is held in the memory
// of the call until the next one.
func (c *call) hostCall(ctx context.Context, name, request []byte) []byte {
	c.memory.give(c.held)
	c.response, c.held = c.response[:0], 0
	result, err := c.runOp(ctx, name, request)
	var doc envelope
	if err == nil {
		doc, err = wrap(result)
	}
	if err == nil {
		err = c.hold(doc)
	}
	if err == nil {
		return doc
	}
	doc, err = json.Marshal(abi.HostResponse{Error: c.opError(name, err)})
	if err != nil {
		panic(err) // texts encode
	}
	return doc
}

// wrap encodes a result, which may be none.
func wrap(result any) (envelope, error) {
	switch r := result.(type) {
	case nil:
		return envelope("{}"), nil
	case envelope:
		return r, nil
	}
	b, err := json.Marshal(result)
	return slices.Concat(envelope(resultOpen), b, envelope(resultClose)), err
}

// hold counts a response against the memory of the call and its host calls. An
// error is small, and always fits.
func (c *call) hold(doc envelope) error {
	n := int64(len(doc))
	if !c.memory.take(n) {
		return &abi.Error{Code: abi.CodeQuota, Message: fmt.Sprintf("a response of %d bytes does not fit the memory of the call", n), Hint: "ask for less at a time"}
	}
	if err := c.carry(max(0, len(doc)-len(resultOpen+resultClose))); err != nil {
		c.memory.give(n)
		return err
	}
	c.held = n
	return nil
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

// countItems refuses a request that holds more of something than one may.
func countItems(what string, n int) error {
	if n > abi.MaxRequestItems {
		return &abi.Error{Code: abi.CodeQuota, Message: fmt.Sprintf("%d %s, %d allowed in one request", n, what, abi.MaxRequestItems), Hint: "ask for fewer at a time"}
	}
	return nil
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
	if refused := e.Code == abi.CodeDenied || e.Code == abi.CodeQuota; refused && e.Err == nil { // what has a cause was told with it
		c.tellRefusal(&seen)
	}
	return &seen
}

// tellRefusal tells the host of a call that was refused for a grant or a limit,
// once for each op and reason: the guest may go on without a word.
func (c *call) tellRefusal(e *abi.Error) {
	text := e.Op + ": " + e.Message
	if e.Hint != "" {
		text += " (" + e.Hint + ")"
	}
	if text = shorten(abi.Defuse(text), 500); !slices.Contains(c.warnings, text) && len(c.warnings) < maxRefusals {
		c.warn(text)
	}
}

// maxRefusals is how many warnings a call has before refusals are left out: a
// guest can make up as many as it likes.
const maxRefusals = 20

// need reports that a capability is missing.
func (c *call) need(capability abi.Capability) error {
	switch asked, granted := c.plugin.asks(capability), c.plugin.grants.Allows(capability); {
	case !asked:
		return &abi.Error{Code: abi.CodeDenied, Message: fmt.Sprintf("the manifest does not ask for the capability %s", capability), Hint: "name it under capabilities, with a reason"}
	case !granted:
		return &abi.Error{Code: abi.CodeDenied, Message: fmt.Sprintf("the capability %s is not granted", capability), Hint: "the operator grants it: " + grantFlag(capability, c.plugin.manifest.Capabilities[capability].Hosts)}
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

func (c *call) requestCompaction(_ context.Context, r abi.CompactionRequest) (any, error) {
	if err := c.need(abi.CapCompactionRequest); err != nil {
		return nil, err
	}
	c.request = &r
	return nil, nil
}
