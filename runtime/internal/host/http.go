package host

import (
	"context"
	"errors"
	"math"
	"net"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/runtime/internal/egress"
)

// web answers the op http, and http_request of the Extism ABI.
type web struct {
	session *egress.Session // nil until the first request
}

func (w *web) answer(ctx context.Context, c *Call, r abi.HTTPRequest) (any, error) {
	if r.Body != "" && len(r.BodyBase64) > 0 {
		return nil, &abi.Error{Code: abi.CodeUsage, Message: "a body and a body_base64: give one of them"}
	}
	resp, err := w.fetch(ctx, c, r)
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// fetch answers a request that is granted, whichever ABI it came by.
func (w *web) fetch(ctx context.Context, c *Call, r abi.HTTPRequest) (*abi.HTTPResponse, error) {
	if w.session == nil {
		w.session = c.Plugin.Web.Session(egress.Limits{
			Requests: c.Plugin.Limits.HTTPRequests, BodyBytes: c.Plugin.Limits.HTTPBytes,
		})
	}
	request := egress.Request{
		Method: r.Method, URL: r.URL, Headers: r.Headers, Body: r.Bytes(),
		Timeout: time.Duration(min(r.TimeoutMS, math.MaxInt32)) * time.Millisecond,
	}
	if c.Plugin.Cassette == nil {
		return w.send(ctx, c, request)
	}
	if err := w.session.Check(request); err != nil {
		return nil, err
	}
	sent := false
	resp, err := recorded(c, abi.OpHTTP, r, func() (*abi.HTTPResponse, error) {
		sent = true
		return w.send(ctx, c, request)
	})
	if err == nil && !sent {
		err = w.session.Answered(request, len(resp.Bytes()))
	}
	return resp, err
}

// send sends a request. Secrets that a server sends back are cut out of the
// response: a host that echoes what it is sent would hand them to the guest.
func (w *web) send(ctx context.Context, c *Call, r egress.Request) (*abi.HTTPResponse, error) {
	r.Timeout = patience(ctx, r.Timeout, c.Plugin.Limits.TimeoutMS)
	resp, err := w.session.Do(ctx, r)
	Check(ctx)
	if err != nil {
		if e := abi.AsError(err); e.Err != nil {
			c.Warn("http: " + c.Clean([]byte(why(e))))
		}
		return nil, err
	}
	if redact := c.Plugin.redact; redact != nil {
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

// why is what the operator is told of a request that failed: what the guest is, and what the system says beyond that.
func why(e *abi.Error) string {
	says, at := e.Err.Error(), ""
	if op, ok := errors.AsType[*net.OpError](e.Err); ok {
		says = op.Err.Error()
		if op.Addr != nil {
			at = " at " + op.Addr.String()
		}
		if system, ok := errors.AsType[*os.SyscallError](op.Err); ok {
			says = system.Err.Error()
		}
	}
	if strings.HasSuffix(e.Message, says) {
		return e.Message + at
	}
	return e.Message + ": " + says + at
}

// answerShare is the part of a call's time that no request takes up: a guest
// whose server is silent has it left to answer without.
const answerShare = 0.1

// patience is how long a request may take that asks for so much: what is left
// of the call at most, but for the time to answer.
func patience(ctx context.Context, asked time.Duration, timeoutMS int) time.Duration {
	if asked <= 0 {
		asked = egress.DefaultTimeout
	}
	deadline, ok := ctx.Deadline()
	if !ok {
		return asked
	}
	toAnswer := time.Duration(answerShare * float64(timeoutMS) * float64(time.Millisecond))
	return min(asked, max(1, time.Until(deadline)-toAnswer))
}

func (w *web) report(s *abi.CallStats) {
	if w.session != nil {
		used := w.session.Used()
		s.HTTPRequests, s.HTTPBytes = used.Requests, used.Bytes
	}
}

func (w *web) close() {
	if w.session != nil {
		w.session.Close()
	}
}
