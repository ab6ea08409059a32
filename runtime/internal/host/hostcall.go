package host

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/callrecord"
)

const (
	maxOpBytes      = 64
	maxRequestBytes = 4 << 20
	// opUnknown counts the calls of ops that do not exist.
	opUnknown abi.Op = "unknown"
)

// traffic is what crosses between a guest and its host in host calls.
type traffic struct {
	limits   *abi.Limits
	counts   map[abi.Op]int
	calls    int
	bytes    int64  // both ways
	response []byte // of the last call
	held     int64  // of the call's memory, for the response
}

// An envelope is a response that is encoded already.
type envelope []byte

// Between these is the result of a host call.
const resultOpen, resultClose = `{"result":`, `}`

// hostCall answers one host call. The envelope is held in the memory of the call
// until the next one.
func (c *Call) hostCall(ctx context.Context, name, request []byte) []byte {
	t := &c.traffic
	c.Memory.Give(t.held)
	t.response, t.held = t.response[:0], 0
	record := callrecord.Of(ctx)
	result, err := perform(c, ctx, record, name, request)
	var doc envelope
	if err == nil {
		doc, err = wrap(result)
	}
	if err == nil {
		err = hold(c, doc)
	}
	if err != nil {
		if doc, err = json.Marshal(abi.HostResponse{Error: opError(c, name, err)}); err != nil {
			panic(err) // texts encode
		}
	}
	record.Add(string(name), request, doc)
	t.response = doc
	return doc
}

// perform counts a host call and answers it, from the record in a replay. An operation that
// does not exist is an error.
func perform(c *Call, ctx context.Context, record *callrecord.Record, name, request []byte) (any, error) {
	o, ok := operations[abi.Op(name)]
	counted := opUnknown
	if ok {
		counted = abi.Op(name)
	}
	if err := c.traffic.admit(counted, len(request)); err != nil {
		return nil, err
	}
	if !ok {
		return nil, &abi.Error{Code: abi.CodeUsage, Message: "no such host call"}
	}
	if doc, err, ok := record.Answer(abi.Op(name), request); ok {
		return envelope(doc), err
	}
	return o.answer(ctx, c, request)
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
func hold(c *Call, doc envelope) error {
	n := int64(len(doc))
	if !c.Memory.Take(n) {
		return quotaf("ask for less at a time", "a response of %d bytes does not fit the memory of the call", n)
	}
	if err := c.traffic.carry(max(0, len(doc)-len(resultOpen+resultClose))); err != nil {
		c.Memory.Give(n)
		return err
	}
	c.traffic.held = n
	return nil
}

// admit counts a host call and its request, or says which limit is used up.
func (t *traffic) admit(op abi.Op, request int) error {
	if t.calls >= t.limits.HostCalls {
		return quotaf("raise its limit (--limit host_calls=N)", "more than %d host calls", t.limits.HostCalls)
	}
	t.calls++
	if t.counts == nil {
		t.counts = make(map[abi.Op]int)
	}
	t.counts[op]++
	if request > maxRequestBytes {
		return quotaf("", "a request of %d bytes, %d allowed", request, maxRequestBytes)
	}
	return t.carry(request)
}

// carry counts bytes that cross between guest and host in host calls.
func (t *traffic) carry(n int) error {
	if int64(n) > t.mayCarry() {
		return quotaf(
			"raise its limit (--limit host_call_bytes=N)", "more than %d bytes in host calls", t.limits.HostCallBytes,
		)
	}
	t.bytes += int64(n)
	return nil
}

func (t *traffic) report(stats *abi.CallStats) {
	stats.HostCalls, stats.HostCallBytes = t.counts, t.bytes
}

func (t *traffic) mayCarry() int64 { return int64(t.limits.HostCallBytes) - t.bytes }

// quotaf is the error of a limit that is used up.
func quotaf(hint, format string, args ...any) *abi.Error {
	return &abi.Error{Code: abi.CodeQuota, Message: fmt.Sprintf(format, args...), Hint: hint}
}

// opError is the error a guest gets to see: of an *abi.Error the code and the
// text, of any other that there was one. The host sees all of it in the
// warnings.
func opError(c *Call, name []byte, err error) *abi.Error {
	op := Shorten(string(name[:min(len(name), maxOpBytes)]), maxOpBytes)
	e := abi.AsError(err)
	if e.Code == abi.CodeInternal {
		c.Warn(op + ": " + err.Error())
		return &abi.Error{Code: abi.CodeInternal, Op: op, Message: "internal error"}
	}
	seen := *e
	seen.Op, seen.Err = op, nil
	// What has a cause was told with it.
	if refused := e.Code == abi.CodeDenied || e.Code == abi.CodeQuota; refused && e.Err == nil {
		tellRefusal(c, &seen)
	}
	return &seen
}

// maxRefusals is how many warnings a call has before refusals are left out: a
// guest can make up as many as it likes.
const maxRefusals = 20

// tellRefusal tells the host of a host call that was refused for a grant or a
// limit, once for each op and reason: the guest may go on without a word.
func tellRefusal(c *Call, e *abi.Error) {
	text := e.Op + ": " + e.Message
	if e.Hint != "" {
		text += " (" + e.Hint + ")"
	}
	if text = Shorten(text, 500); !slices.Contains(c.warnings, text) && len(c.warnings) < maxRefusals {
		c.Warn(text)
	}
}
