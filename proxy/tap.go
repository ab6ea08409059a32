package proxy

import (
	"bytes"
	"context"
	"io"
	"net/http"
)

// tap reads what a response says of its cost while it passes. It holds nothing back: the
// client has each byte when the provider has sent it.
type tap struct {
	io.ReadCloser
	e      *exchange
	stream bool
	line   []byte // that is not complete yet
	skip   bool   // of a line that is too long
	done   bool
}

// maxLine bounds what is kept of an event, and of an answer that is not streamed.
const maxLine = 4 << 20

func newTap(resp *http.Response, e *exchange) *tap {
	return &tap{ReadCloser: resp.Body, e: e, stream: e.wire.streams(resp)}
}

func (t *tap) Read(b []byte) (int, error) {
	n, err := t.ReadCloser.Read(b)
	t.take(b[:n])
	if err == io.EOF {
		t.end()
	}
	return n, err
}

// Close also ends a stream that the client left: what it cost so far is known.
func (t *tap) Close() error {
	t.end()
	return t.ReadCloser.Close()
}

func (t *tap) take(b []byte) {
	if !t.stream {
		if !t.skip && len(t.line)+len(b) <= maxLine {
			t.line = append(t.line, b...)
		} else {
			t.line, t.skip = nil, true
		}
		return
	}
	for len(b) > 0 {
		end := bytes.IndexByte(b, '\n')
		part := b
		if end >= 0 {
			part = b[:end]
		}
		if t.skip = t.skip || len(t.line)+len(part) > maxLine; t.skip {
			t.line = t.line[:0]
		} else {
			t.line = append(t.line, part...)
		}
		if end < 0 {
			return
		}
		t.event()
		b = b[end+1:]
	}
}

var (
	dataField = []byte("data:")
	usageWord = []byte(`"usage`) // usage, usageMetadata
)

// event looks at a line of a stream.
func (t *tap) event() {
	if data := t.e.wire.data(t.line); data != nil && !t.skip {
		if t.e.wire.lines || bytes.Contains(data, usageWord) {
			t.e.wire.usage(data, &t.e.usage)
		}
		if t.e.turn != nil {
			t.e.turn.hear(t.e.wire, data)
		}
	}
	t.line, t.skip = t.line[:0], false
}

func (t *tap) end() {
	if t.done {
		return
	}
	t.done = true
	if t.stream {
		t.event()
	} else if !t.skip {
		t.e.wire.usage(t.line, &t.e.usage)
		if t.e.turn != nil {
			t.e.turn.hear(t.e.wire, t.line)
		}
	}
	t.line = nil
	t.e.answered(context.Background())
	ending{t.e}.turnOver()
}
