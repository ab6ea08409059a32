package host

import (
	"bytes"
	"context"
	"encoding/json"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/strictjson"
)

// ExtismHostFuncs are the calls of the Extism ABI that reach the host: the log,
// and what the operator grants of HTTP. They are the same on every
// engine: what leaves the sandbox leaves it through this package.
var ExtismHostFuncs = []Func{
	{"http_request", "(i64,i64)->i64", httpRequest},
	{
		"http_status_code", "()->i32",
		func(_ context.Context, c *Call, stack []uint64) { stack[0] = uint64(c.extism.status) },
	},
	{"http_headers", "()->i64", httpHeaders},
	{"get_log_level", "()->i32", func(_ context.Context, _ *Call, stack []uint64) { stack[0] = extismDebug }},
	{"log_trace", "(i64)", logAt(abi.LogDebug)},
	{"log_debug", "(i64)", logAt(abi.LogDebug)},
	{"log_info", "(i64)", logAt(abi.LogInfo)},
	{"log_warn", "(i64)", logAt(abi.LogWarn)},
	{"log_error", "(i64)", logAt(abi.LogError)},
}

// extismDebug is the log level debug in the numbers of the Extism ABI.
const extismDebug = 1

func logAt(level abi.LogLevel) func(context.Context, *Call, []uint64) {
	return func(ctx context.Context, c *Call, stack []uint64) {
		text, _ := c.extism.texts.Block(stack[0])
		c.clock.moved(ctx, len(text))
		c.Logs.add(level, text)
		c.extism.texts.Release(stack[0])
	}
}

var httpKeys = strictjson.Keys(abi.HTTPRequest{})

// httpRequest takes the request as JSON and the body, and returns the body of
// the response, 0 where it is empty. It has no way to return an error, so one
// ends the call.
func httpRequest(ctx context.Context, c *Call, stack []uint64) {
	Check(ctx)
	x := &c.extism
	doc, _ := x.texts.Block(stack[0])
	body, _ := x.texts.Block(stack[1])
	x.status, x.headers = 0, nil
	resp, err := extismFetch(ctx, c, doc, body)
	if err != nil {
		e := abi.AsError(err)
		c.Stop(e.Code, "http_request: "+e.Message, e.Hint)
	}
	x.texts.Release(stack[0])
	x.texts.Release(stack[1])
	x.status, x.headers = resp.Status, resp.Headers
	body = resp.Bytes()
	if stack[0] = x.texts.Put(body); stack[0] == 0 && len(body) > 0 {
		c.Stop(abi.CodeMemory, "http_request: the response does not fit the memory of the call", memoryHint)
	}
}

func extismFetch(ctx context.Context, c *Call, doc, body []byte) (*abi.HTTPResponse, error) {
	if err := c.traffic.admit(abi.OpHTTP, len(doc)+len(body)); err != nil {
		return nil, err
	}
	var r abi.HTTPRequest // of which Extism's libraries write a few fields
	if _, err := decode(ctx, c, doc, &r, httpKeys); err != nil {
		return nil, err
	}
	if err := c.Plugin.need(operations[abi.OpHTTP].needs); err != nil {
		return nil, err
	}
	request := abi.HTTPRequest{Method: r.Method, URL: r.URL, Headers: r.Headers}
	// A server that answers early leaves the client sending, while the guest
	// goes on with its memory: the body is a copy.
	if utf8.Valid(body) {
		request.Body = string(body)
	} else {
		request.BodyBase64 = bytes.Clone(body)
	}
	resp, err := service[web](c).fetch(ctx, c, request)
	if err != nil {
		return nil, err
	}
	return resp, c.traffic.carry(len(resp.Bytes()))
}

func httpHeaders(ctx context.Context, c *Call, stack []uint64) {
	Check(ctx)
	if stack[0] = 0; c.extism.headers == nil {
		return
	}
	doc, err := json.Marshal(c.extism.headers)
	if err != nil {
		panic(err) // texts encode
	}
	stack[0] = c.extism.texts.Put(doc)
}
