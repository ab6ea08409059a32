package server

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
)

// refusal is of a request that is refused however often it is sent.
type refusal struct{ error }

// fault is of a request that the server fails on, and may fail on for ever.
type fault struct{ error }

// How long a server is left alone: where it does not say itself, and at most.
const (
	defaultPause = 30 * time.Second
	maxPause     = time.Hour
)

// authorization carries the operator's token, which the plugin never sees.
const authorization = "Bearer {{secret:api_token}}"

// do sends a request about the bank, and decodes the answer into resp.
func (b *Bank) do(method, path string, body, resp any) error {
	return b.call(method, "/v1/default/banks/"+segment(b.ID)+path, body, resp)
}

// call sends a request to the server. Where the server is to be left alone, by
// what it answers or for not answering, there are no more in this call.
func (b *Bank) call(method, path string, body, resp any) error {
	if b.down != nil {
		return fmt.Errorf("not asked again after: %w", b.down)
	}
	if until := b.state.NotBefore; b.now.Before(until) {
		b.down = fmt.Errorf("left alone until %s", until.Format(time.RFC3339))
		return b.down
	}
	r := abi.HTTPRequest{
		Method: method, URL: strings.TrimRight(b.URL, "/") + path, TimeoutMS: int(b.Timeout.Milliseconds()),
		Headers: map[string]string{"Accept": "application/json", "Authorization": authorization},
	}
	if body != nil {
		doc, err := json.Marshal(body)
		if err != nil {
			return refusal{err}
		}
		r.Body, r.Headers["Content-Type"] = string(doc), "application/json"
	}
	answer, err := b.HTTP(r)
	if abi.CodeOf(err) == abi.CodeDenied {
		// Without a token of the operator's there is nothing to carry.
		delete(r.Headers, "Authorization")
		answer, err = b.HTTP(r)
	}
	if err != nil {
		return b.unreached(err)
	}
	if answer.Status/100 != 2 {
		return b.unwell(answer)
	}
	if resp == nil {
		return nil
	}
	if err := json.Unmarshal(answer.Bytes(), resp); err != nil {
		return fault{fmt.Errorf("an answer that is not of its API: %.100v", err)}
	}
	return nil
}

// unreached is the error of a request without an answer.
func (b *Bank) unreached(err error) error {
	switch abi.CodeOf(err) {
	case abi.CodeQuota: // of this request, or of its answer
		return err
	case abi.CodeDenied, abi.CodeUsage:
		err = fmt.Errorf("%w: grant it with --grant http=%s", err, origin(b.URL))
	default:
		b.pause(defaultPause)
	}
	b.down = err
	return err
}

// unwell is the error of an answer that is none.
func (b *Bank) unwell(a *abi.HTTPResponse) error {
	err := fmt.Errorf("it answers %d%s", a.Status, detail(a.Bytes()))
	switch {
	case a.Status == 401 || a.Status == 403:
		err = fmt.Errorf("%w: give its token with --secret api_token=VARIABLE", err)
	case a.Status == 429 || a.Status == 503:
		b.pause(b.retryAfter(a.Headers["retry-after"]))
	case a.Status >= 500:
		b.pause(defaultPause)
		err = fault{err}
	case a.Status == 400 || a.Status == 413 || a.Status == 422:
		return refusal{err}
	case a.Status < 400 || a.Status == 404 || a.Status == 405:
		return fmt.Errorf("%w: name a Hindsight server in api_url, %s is none", err, b.URL)
	default:
		return fault{err}
	}
	b.down = err
	return err
}

// detail is what an error's answer says, in short.
func detail(body []byte) string {
	var e struct {
		Detail json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(body, &e) != nil || len(e.Detail) == 0 {
		return ""
	}
	var text string
	if json.Unmarshal(e.Detail, &text) != nil {
		text = string(e.Detail)
	}
	return ": " + clip.Line(abi.Defuse(text), 200)
}

// pause leaves the server alone for a while.
func (b *Bank) pause(d time.Duration) {
	until := b.now.Add(min(d, maxPause))
	b.note(func(s *state) { s.pause(until) })
}

// httpDate is the form of dates in headers.
const httpDate = "Mon, 02 Jan 2006 15:04:05 GMT"

// retryAfter reads the header of that name: seconds, or a date.
func (b *Bank) retryAfter(value string) time.Duration {
	if s, err := strconv.ParseFloat(value, 64); err == nil && s > 0 {
		return time.Duration(min(s, maxPause.Seconds()) * float64(time.Second))
	}
	if at, err := time.Parse(httpDate, value); err == nil && at.After(b.now) {
		return at.Sub(b.now)
	}
	return defaultPause
}
