package proxy

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/models"
)

// sender sends a request, and again where the provider refused it as too long and it can be
// made shorter (recover.go).
type sender struct{ p *Proxy }

// maxRefusal is how much of an error is read to see what it is about.
const maxRefusal = 64 << 10

// RoundTrip implements http.RoundTripper.
func (s sender) RoundTrip(r *http.Request) (*http.Response, error) {
	e := exchangeOf(r.Context())
	if e != nil && e.body != nil { // for a connection that turns out to be closed already
		r.GetBody = func() (io.ReadCloser, error) { return &once{e.body}, nil }
	}
	resp, err := s.p.opts.Transport.RoundTrip(r)
	if err != nil || e == nil || e.branch == nil {
		return resp, err
	}
	exceeded, tooLong := e.refusal(resp)
	if !tooLong {
		return resp, nil
	}
	return (&recovery{exchange: e, request: r, exceeded: exceeded, said: resp}).run(r.Context()), nil
}

// refusal says whether a response refuses its request as too long. Its body is as it was.
func (e *exchange) refusal(resp *http.Response) (x abi.Exceeded, tooLong bool) {
	switch resp.StatusCode {
	case http.StatusOK:
		return e.streamed(resp)
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusTooManyRequests:
		return x, false
	}
	if resp.StatusCode < 400 {
		return x, false
	}
	begin, err := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	unread(resp, begin, err)
	if x, tooLong = models.TooLong(errors.New(string(begin))); tooLong {
		return x, true
	}
	return abi.Exceeded{Bytes: true}, resp.StatusCode == http.StatusRequestEntityTooLarge
}

// streamed is refusal for streams, which some providers begin before they look at the request. Where that may be too
// long, or was before, the events before the first one of the answer wait for that.
func (e *exchange) streamed(resp *http.Response) (x abi.Exceeded, tooLong bool) {
	if !e.wire.streams(resp) || !e.refused && !(extent{e}).half() {
		return x, false
	}
	from := bufio.NewReader(resp.Body)
	var begin []byte
	for len(begin) < maxRefusal {
		event, err := e.wire.event(from)
		begin = append(begin, event...)
		if err != nil {
			unread(resp, begin, err)
			return x, false
		}
		said := e.wire.says(event)
		if said.refuses() {
			x, tooLong = models.TooLong(errors.New(string(event)))
			break
		}
		if !said.waits() {
			break
		}
	}
	held, _ := from.Peek(from.Buffered())
	unread(resp, append(begin, held...), nil)
	return x, tooLong
}

// event is what an event of a stream says at its top, in any wire.
type event struct {
	empty   bool // it has no data: a comment, a sign of life
	Type    string
	Error   json.RawMessage
	Choices []struct {
		Delta        map[string]any
		FinishReason string `json:"finish_reason"`
	}
}

func (w *wire) says(text []byte) (said event) {
	said.empty = true
	for line := range bytes.Lines(text) {
		if data := w.data(line); data != nil {
			if said.empty = false; json.Unmarshal(data, &said) != nil {
				return event{} // the end of a stream, or of a kind that nobody knows
			}
		}
	}
	return said
}

// refuses reports whether the event is the end of a request that was not done.
func (e *event) refuses() bool {
	return e.Type == "error" || e.Type == "response.failed" || len(e.Error) > 0 && string(e.Error) != "null"
}

// waits reports whether an event says nothing of the answer yet: its beginning, and that it is being made.
func (e *event) waits() bool {
	switch e.Type {
	case "response.created", "response.in_progress", "response.queued", "keepalive", "message_start", "ping":
		return true
	}
	if len(e.Choices) == 0 {
		return e.empty
	}
	for name, value := range e.Choices[0].Delta {
		if name != "role" && value != nil && value != "" {
			return false
		}
	}
	return e.Choices[0].FinishReason == ""
}

// unread puts what was read of a body back, and what ended the reading.
func unread(resp *http.Response, begin []byte, err error) {
	rest := resp.Body
	var after io.Reader = rest
	if err != nil && err != io.EOF {
		after = failing{err}
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(begin), after), rest}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// response looks at a response as it passes.
func (p *Proxy) response(resp *http.Response) error {
	e := exchangeOf(resp.Request.Context())
	if e == nil {
		return nil
	}
	resp.Header.Set(Header, e.says.String())
	if e.branch != nil && resp.StatusCode < 300 {
		resp.Body = newTap(resp, e)
	}
	if e.inject != nil && resp.StatusCode < 300 {
		if err := e.inject.into(resp); err != nil {
			return err
		}
	}
	if e.turn != nil {
		e.turn.doc = e.doc
	}
	e.client, e.whole, e.doc, e.body, e.last = nil, nil, nil, nil, nil // the stream may last, and they are large
	return nil
}
