package models

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/kagewasm/kagewasm/abi"
)

// maxBody bounds what is read of a response. The longest answers of today's
// models have less than a megabyte.
const maxBody = 16 << 20

var errTooLarge = fmt.Errorf("an answer of more than %d MiB", maxBody>>20)

// exchange is one request with its retries: one policy for all providers. The
// whole answer is read here, where it can still be tried again.
type exchange struct {
	m    *model
	body []byte
	// last is how the last try ended; refusal is the last one that ended with
	// a response that was an error.
	last, refusal *reply
	// waited is the time between tries so far; asked is how long the provider
	// wanted to be left alone when it was given up.
	waited, asked time.Duration
}

// reply is how a try ended: with a response whose body has been read, or with
// an error. One that is an error of the provider's is the cause of ours.
type reply struct {
	// status is the response's, or the one that an error in a body stands for.
	status int
	header http.Header
	body   []byte
	err    error
	// away: the provider wants to be left alone for longer than anybody waits.
	away bool
}

// Final reports whether a shorter request would be refused too, as far as the answer says: the account, the
// model's name or the address is wrong, or the provider says when it wants to be asked again.
func (r *reply) Final() bool {
	return r.away || r.status == http.StatusPaymentRequired || r.status == http.StatusNotFound ||
		r.status >= 300 && r.status < 400 || outOfCredit(r.status, r.body)
}

func (r *reply) ok() bool { return r.err == nil && r.status/100 == 2 }

func (r *reply) Error() string { return fmt.Sprintf("status %d", r.status) }

// Exceeded returns what the provider says of a request that did not fit, see [abi.ExceededBy].
func (r *reply) Exceeded() abi.Exceeded {
	x, _ := exceeds(r.status, string(r.body))
	return x
}

// run sends the request until there is a reply that stays.
func (x *exchange) run(ctx context.Context) {
	for try := 0; ; try++ {
		x.last = x.send(ctx)
		wait, again := x.again(ctx, try)
		if !again || x.m.config.Sleep(ctx, wait) != nil {
			return
		}
		x.waited += wait
	}
}

// send tries once.
func (x *exchange) send(ctx context.Context) *reply {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, x.m.wire.url, bytes.NewReader(x.body))
	if err != nil {
		return &reply{err: err}
	}
	req.Header = x.m.header.Clone()
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
	r := &reply{status: resp.StatusCode, header: resp.Header, body: body}
	if r.ok() {
		if status := errorInBody(body); status != 0 {
			r.status = status
		}
	}
	if !r.ok() {
		r.body = []byte(x.m.redact(string(body))) // some servers send the key back
		x.refusal = r
	}
	return r
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
