package models

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// maxBody bounds what is read of a response. The longest answers of today's
// models have less than a megabyte.
const maxBody = 16 << 20

var errTooLarge = fmt.Errorf("an answer of more than %d MiB", maxBody>>20)

// exchange is one request with its retries. It stands between the SDKs and the
// network, so that all providers have one policy, and so that the whole answer
// is read where it can still be tried again. It is the client of the SDKs,
// whose own retries are off.
type exchange struct {
	m *model
	// last is how the last try ended; refusal is the last one that ended with
	// a response that was an error.
	last, refusal *reply
	// waited is the time between tries so far; asked is how long the provider
	// wanted to be left alone when it was given up.
	waited, asked time.Duration
}

// reply is what a try came to: a response whose body has been read, or an
// error.
type reply struct {
	response *http.Response
	body     []byte
	err      error
	// status is the response's, or the one that an error in a body stands for.
	status int
}

func (r *reply) ok() bool { return r.status/100 == 2 }

func newExchange(m *model) *exchange { return &exchange{m: m} }

// Do sends req until there is an answer that stays.
func (x *exchange) Do(req *http.Request) (*http.Response, error) {
	for name, value := range x.m.config.Headers {
		req.Header.Set(name, value)
	}
	for try := 0; ; try++ {
		x.last = x.send(req)
		wait, again := x.again(req.Context(), try)
		if !again {
			return x.last.response, x.last.err
		}
		if err := x.m.config.Sleep(req.Context(), wait); err != nil {
			return nil, err
		}
		x.waited += wait
		var err error
		if req, err = rewound(req); err != nil {
			return nil, err
		}
	}
}

func rewound(req *http.Request) (*http.Request, error) {
	req = req.Clone(req.Context())
	if req.GetBody == nil {
		return nil, errors.New("a request that cannot be sent again")
	}
	body, err := req.GetBody()
	req.Body = body
	return req, err
}

// send tries once.
func (x *exchange) send(req *http.Request) *reply {
	resp, err := x.m.config.HTTPClient.Do(req)
	if err != nil {
		return &reply{err: err}
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	_ = resp.Body.Close()
	switch {
	case err != nil:
		return &reply{err: err}
	case len(body) > maxBody:
		return &reply{err: errTooLarge}
	}
	r := &reply{response: resp, body: body, status: resp.StatusCode}
	x.settle(r)
	if !r.ok() {
		x.refusal = r
	}
	return r
}

// settle makes of a response what the SDKs understand: an error that came as
// success gets its own status, JSON is called JSON, and of a key that the server
// sends back nothing stays.
func (x *exchange) settle(r *reply) {
	if r.ok() {
		if status := errorInBody(r.body); status != 0 {
			r.status, r.response.StatusCode = status, status
		}
	}
	if !r.ok() {
		r.body = []byte(x.m.redact(string(r.body)))
	}
	if bytes.HasPrefix(bytes.TrimSpace(r.body), []byte("{")) {
		r.response.Header.Set("Content-Type", "application/json")
	}
	r.response.Body = io.NopCloser(bytes.NewReader(r.body))
	r.response.ContentLength = int64(len(r.body))
}

// withoutRedirects is c, or a client of our own, that hands out redirects as
// they are: net/http drops Authorization on the way to another host, but not
// x-api-key.
func withoutRedirects(c *http.Client) *http.Client {
	var out http.Client
	if c != nil {
		out = *c
	} else {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.Proxy = nil
		out.Transport = t
	}
	out.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &out
}
