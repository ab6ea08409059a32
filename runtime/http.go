package runtime

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"time"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/runtime/internal/egress"
)

// http answers the op http.
func (c *call) http(ctx context.Context, r abi.HTTPRequest) (any, error) {
	if r.Body != "" && len(r.BodyBase64) > 0 {
		return nil, &abi.Error{Code: abi.CodeUsage, Message: "a body and a body_base64: give one of them"}
	}
	resp, err := c.fetch(ctx, r)
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// fetch answers a request, whichever ABI it came by.
func (c *call) fetch(ctx context.Context, r abi.HTTPRequest) (*abi.HTTPResponse, error) {
	if err := c.need(abi.CapHTTP); err != nil {
		return nil, err
	}
	if c.web == nil {
		c.web = c.plugin.web.Session(egress.Limits{Requests: c.limits.HTTPRequests, BodyBytes: c.limits.HTTPBytes})
		context.AfterFunc(ctx, c.web.Close) // the context ends with the call
	}
	request := egress.Request{
		Method: r.Method, URL: r.URL, Headers: r.Headers, Body: r.Bytes(),
		Timeout: time.Duration(min(r.TimeoutMS, math.MaxInt32)) * time.Millisecond,
	}
	if c.plugin.tape == nil {
		return c.send(ctx, request)
	}
	if err := c.web.Check(request); err != nil {
		return nil, err
	}
	sent := false
	resp, err := taped(c, abi.OpHTTP, r, func() (*abi.HTTPResponse, error) {
		sent = true
		return c.send(ctx, request)
	})
	if err == nil && !sent {
		err = c.web.Answered(request, len(resp.Bytes()))
	}
	return resp, err
}

// send sends a request. Secrets that a server sends back are cut out of the
// response: a host that echoes what it is sent would hand them to the guest.
func (c *call) send(ctx context.Context, r egress.Request) (*abi.HTTPResponse, error) {
	r.Timeout = c.patience(ctx, r.Timeout)
	resp, err := c.web.Do(ctx, r)
	c.check(ctx)
	if err != nil {
		if e := abi.AsError(err); e.Err != nil {
			c.warn("http: " + clean([]byte(e.Message+": "+e.Err.Error()), c.limits.ErrorBytes, c.plugin.redact))
		}
		return nil, err
	}
	if redact := c.plugin.redact; redact != nil {
		resp.Body = []byte(redact.Replace(string(resp.Body)))
		for name, value := range resp.Headers {
			resp.Headers[name] = redact.Replace(value)
		}
	}
	out := &abi.HTTPResponse{Status: resp.Status, Headers: resp.Headers}
	if utf8.Valid(resp.Body) {
		out.Body = string(resp.Body)
	} else {
		out.BodyBase64 = resp.Body
	}
	return out, nil
}

// answerShare is the part of a call's time that no request takes up: a guest
// whose server is silent has it left to answer without.
const answerShare = 0.1

// patience is how long a request may take that asks for so much: what is left
// of the call at most, but for the time to answer.
func (c *call) patience(ctx context.Context, asked time.Duration) time.Duration {
	if asked <= 0 {
		asked = egress.DefaultTimeout
	}
	deadline, ok := ctx.Deadline()
	if !ok {
		return asked
	}
	toAnswer := time.Duration(answerShare * float64(c.limits.TimeoutMS) * float64(time.Millisecond))
	return min(asked, max(1, time.Until(deadline)-toAnswer))
}

// extismRequest is what Extism's libraries write.
type extismRequest struct {
	URL     string            `json:"url"`
	Method  string            `json:"method"`
	Headers map[string]string `json:"headers"`
}

var extismRequestKeys = abi.Keys(extismRequest{})

// httpRequest is http_request of the Extism ABI: it takes the request as JSON
// and the body, and returns the body of the response, 0 where it is empty. It
// has no way to return an error, so one ends the call.
func httpRequest(ctx context.Context, c *call, stack []uint64) {
	c.check(ctx)
	doc, _ := c.blocks.block(stack[0])
	body, _ := c.blocks.block(stack[1])
	c.httpStatus, c.httpHeaders = 0, nil
	resp, err := c.extismFetch(ctx, doc, body)
	if err != nil {
		e := abi.AsError(err)
		c.stop(e.Code, "http_request: "+e.Message, e.Hint)
	}
	c.blocks.release(stack[0])
	c.blocks.release(stack[1])
	c.httpStatus, c.httpHeaders = resp.Status, resp.Headers
	body = resp.Bytes()
	if stack[0] = c.blocks.put(body); stack[0] == 0 && len(body) > 0 {
		c.stop(abi.CodeMemory, "http_request: the response does not fit the memory of the call", memoryHint)
	}
}

func (c *call) extismFetch(ctx context.Context, doc, body []byte) (*abi.HTTPResponse, error) {
	if err := c.admit(abi.OpHTTP, len(doc)+len(body)); err != nil {
		return nil, err
	}
	var r extismRequest
	err := abi.CheckJSON(doc, extismRequestKeys)
	if err == nil {
		err = json.Unmarshal(doc, &r)
	}
	if err != nil {
		return nil, &abi.Error{Code: abi.CodeUsage, Message: err.Error()}
	}
	request := abi.HTTPRequest{Method: r.Method, URL: r.URL, Headers: r.Headers}
	// A server that answers early leaves the client sending, while the guest
	// goes on with its memory: the body is a copy.
	if utf8.Valid(body) {
		request.Body = string(body)
	} else {
		request.BodyBase64 = bytes.Clone(body)
	}
	resp, err := c.fetch(ctx, request)
	if err != nil {
		return nil, err
	}
	return resp, c.carry(len(resp.Bytes()))
}

// httpStatus and httpHeaders are of the last response.
func httpStatus(_ context.Context, c *call, stack []uint64) { stack[0] = uint64(c.httpStatus) }

func httpHeaders(ctx context.Context, c *call, stack []uint64) {
	c.check(ctx)
	if stack[0] = 0; c.httpHeaders == nil {
		return
	}
	doc, err := json.Marshal(c.httpHeaders)
	if err != nil {
		panic(err) // texts encode
	}
	stack[0] = c.blocks.put(doc)
}
