package egress

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/kagewasm/kagewasm/abi"
)

// Limits of a [Session]. Zero allows nothing.
type Limits struct {
	// Requests is how many may be sent, redirects included.
	Requests int
	// BodyBytes is how long the body of a request or of a response may be.
	BodyBytes int
}

// Usage is what a session has used of its limits.
type Usage struct {
	Requests int
	Bytes    int64 // of all bodies, both ways
}

// Session sends the requests of one call, one after the other. Close it: its
// connections are no one else's.
type Session struct {
	client    *Client
	limits    Limits
	used      Usage
	transport *http.Transport
}

// Request is what a guest asks for.
type Request struct {
	Method  string // default GET
	URL     string
	Headers map[string]string
	Body    []byte
	Timeout time.Duration // default DefaultTimeout
}

// Response is what came back.
type Response struct {
	Status  int
	Headers map[string]string // by name in lower case
	Body    []byte            // as sent, compressed or not
}

const maxRedirects = 5

// DefaultTimeout is how long a request may take that does not say.
const DefaultTimeout = 30 * time.Second

// Session begins a call's requests.
func (c *Client) Session(l Limits) *Session {
	return &Session{client: c, limits: l, transport: &http.Transport{
		DialContext:            c.dial,
		TLSClientConfig:        &tls.Config{RootCAs: c.roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    dialTimeout,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxResponseHeader,
		MaxIdleConnsPerHost:    1,
		ForceAttemptHTTP2:      true,
	}}
}

// Close ends the session's connections.
func (s *Session) Close() { s.transport.CloseIdleConnections() }

// Used is what the session has used so far.
func (s *Session) Used() Usage { return s.used }

// Do sends a request and follows its redirects. Errors are *abi.Error: usage,
// denied, quota, deadline, canceled, or network, whose Err is for the host
// alone: it tells of its network.
func (s *Session) Do(ctx context.Context, r Request) (*Response, error) {
	h, err := s.begin(r)
	if err != nil {
		return nil, err
	}
	if r.Timeout <= 0 {
		r.Timeout = DefaultTimeout
	}
	timed, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	for n := 0; ; n++ {
		resp, err := s.send(timed, h)
		if err != nil {
			return nil, fault(ctx, timed, r.Timeout, h.origin, err)
		}
		next, err := s.client.next(h, resp)
		switch {
		case err == nil && next == nil:
			out, err := s.receive(resp)
			if err != nil {
				return nil, fault(ctx, timed, r.Timeout, h.origin, err)
			}
			return out, nil
		case err == nil && n == maxRedirects:
			err = quotaf("more than %d redirects", maxRedirects)
		}
		resp.Body.Close()
		if err != nil {
			return nil, err
		}
		h = next
	}
}

// begin is the first hop of a request that may be sent.
func (s *Session) begin(r Request) (*hop, error) {
	h, err := s.client.first(r)
	if err == nil && len(r.Body) > s.limits.BodyBytes {
		err = quotaf("a body of %d bytes, %d allowed", len(r.Body), s.limits.BodyBytes)
	}
	return h, err
}

// Check refuses what Do refuses before it sends anything.
func (s *Session) Check(r Request) error {
	_, err := s.begin(r)
	return err
}

// Answered counts a request that somebody else answered, with a body of so many
// bytes, and holds it to the limits of one that was sent.
func (s *Session) Answered(r Request, body int) error {
	if err := s.count(len(r.Body)); err != nil {
		return err
	}
	s.used.Bytes += int64(body)
	if body > s.limits.BodyBytes {
		return tooLong(int64(s.limits.BodyBytes))
	}
	return nil
}

// count admits one request with a body of so many bytes.
func (s *Session) count(body int) error {
	if s.used.Requests >= s.limits.Requests {
		e := quotaf("more than %d requests", s.limits.Requests)
		e.Hint = "raise its limit (--limit http_requests=N)"
		return e
	}
	s.used.Requests++
	s.used.Bytes += int64(body)
	return nil
}

func tooLong(limit int64) error { return quotaf("a response of more than %d bytes", limit) }

// send sends one hop.
func (s *Session) send(ctx context.Context, h *hop) (*http.Response, error) {
	if err := s.count(len(h.body)); err != nil {
		return nil, err
	}
	ctx = context.WithValue(ctx, originKey{}, h.origin)
	req, err := http.NewRequestWithContext(ctx, h.method, h.url.String(), bytes.NewReader(h.body))
	if err != nil {
		return nil, usagef("request: %v", err)
	}
	if len(h.body) == 0 {
		req.Body, req.GetBody = nil, nil
	}
	req.Header = h.header
	return s.transport.RoundTrip(req)
}

// receive reads a response, up to the limit.
func (s *Session) receive(resp *http.Response) (*Response, error) {
	defer resp.Body.Close()
	limit := int64(s.limits.BodyBytes)
	body, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	s.used.Bytes += int64(len(body))
	if err != nil {
		return nil, err
	}
	if int64(len(body)) > limit {
		return nil, tooLong(limit)
	}
	return &Response{Status: resp.StatusCode, Headers: responseHeader(resp.Header), Body: body}, nil
}

func quotaf(format string, args ...any) *abi.Error {
	return &abi.Error{Code: abi.CodeQuota, Message: fmt.Sprintf(format, args...)}
}
