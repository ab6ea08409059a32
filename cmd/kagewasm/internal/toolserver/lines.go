package toolserver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Over is the protocol over a pair of streams, a message a line. A line that is no message
// is answered with an error, as JSON-RPC has it, and the next one is read: the SDK would end
// the server. What was asked before the input ended is answered. Neither stream is closed.
func Over(r io.Reader, w io.Writer) *sdk.IOTransport {
	waits := newUnanswered()
	out := &lineWriter{w: w, waits: waits}
	return &sdk.IOTransport{Reader: &lineReader{from: bufio.NewReader(r), out: out, waits: waits}, Writer: out}
}

// lineWriter writes lines of several writers, each in one piece.
type lineWriter struct {
	mu    sync.Mutex
	w     io.Writer
	waits *unanswered
}

// Write implements io.Writer.
func (l *lineWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.waits.answered(p)
	return l.w.Write(p)
}

// Close implements io.Closer.
func (l *lineWriter) Close() error { return nil }

// lineReader reads the lines that are messages, and answers the others.
type lineReader struct {
	from  *bufio.Reader
	out   *lineWriter
	waits *unanswered
	line  []byte // what is left of the last one
	// batches: the client speaks a version of the protocol that has them.
	batches bool
}

// Close implements io.Closer.
func (l *lineReader) Close() error {
	l.waits.end()
	return nil
}

// Read implements io.Reader.
func (l *lineReader) Read(p []byte) (int, error) {
	for len(l.line) == 0 {
		line, whole, err := l.next()
		if len(line) > 0 || !whole {
			if code, why := l.fault(line, whole); why == "" {
				l.line = append(line, '\n')
			} else if err := l.refuse(code, why); err != nil {
				return 0, err
			}
		}
		if err != nil && len(l.line) == 0 {
			l.waits.wait()
			return 0, err
		}
	}
	n := copy(p, l.line)
	l.line = l.line[n:]
	return n, nil
}

// next is the next line without the space around it, and whether that is all of it: of one that is too
// long the rest is passed over.
func (l *lineReader) next() (line []byte, whole bool, err error) {
	whole = true
	for {
		part, err := l.from.ReadSlice('\n')
		if len(line)+len(part) > sdk.DefaultMaxLineLength {
			whole = false
		} else {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimSpace(line), whole, err
		}
	}
}

// What JSON-RPC calls a line that is no message.
const (
	parseError     = -32700
	invalidRequest = -32600
)

// fault is what is wrong with a line, as a code and in words; none where nothing is.
func (l *lineReader) fault(line []byte, whole bool) (code int, why string) {
	switch {
	case !whole:
		return invalidRequest, fmt.Sprintf("a line of more than %d bytes", sdk.DefaultMaxLineLength)
	case !json.Valid(line):
		return parseError, "the line is no JSON"
	}
	batch := messagesOf(line)
	if line[0] == '[' && (len(batch) == 0 || !l.batches) {
		return invalidRequest, "a list of messages: send one a line"
	}
	list := make([]jsonrpc.Message, 0, len(batch))
	for _, one := range batch {
		m, err := jsonrpc.DecodeMessage(one)
		if err != nil {
			return invalidRequest, "the line is no message of JSON-RPC 2.0: " + err.Error()
		}
		list = append(list, m)
	}
	for _, m := range list {
		l.heard(m)
		l.waits.asked(m)
	}
	return 0, ""
}

// heard notes which version of the protocol a client speaks.
func (l *lineReader) heard(m jsonrpc.Message) {
	var begins struct{ ProtocolVersion string }
	if r, ok := m.(*jsonrpc.Request); ok && r.Method == "initialize" && json.Unmarshal(r.Params, &begins) == nil {
		l.batches = begins.ProtocolVersion < "2025-06-18"
	}
}

// refuse answers a line whose id nobody knows.
func (l *lineReader) refuse(code int, why string) error {
	answer, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": nil,
		"error": map[string]any{"code": code, "message": why}})
	if err == nil {
		_, err = l.out.Write(append(answer, '\n'))
	}
	return err
}
