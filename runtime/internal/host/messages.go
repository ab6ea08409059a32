package host

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
)

// messages answers the op messages.get.
type messages struct {
	index map[string]int // of the input's messages, by id; nil until it is needed
}

// get writes messages. Texts may be long, and longer still once they are
// escaped: the response is written twice, at first only to learn its size, and a
// piece at a time, so that the host never holds more than what the guest gets to
// see.
func (s *messages) get(ctx context.Context, c *Call, r abi.MessagesRequest) (any, error) {
	picked, err := s.pick(ctx, c, r.IDs)
	if err != nil {
		return nil, err
	}
	w := &messageWriter{ctx: ctx, clock: &c.clock, most: min(c.traffic.mayCarry(), c.Memory.Left())}
	if w.all(picked); w.err != nil {
		return nil, w.err
	}
	if w.doc = c.traffic.response[:0]; int64(cap(w.doc)) < w.size { // what was there is over
		w.doc = make([]byte, 0, w.size)
	}
	w.size = 0
	w.all(picked)
	return envelope(w.doc), w.err
}

// pick finds messages by their ids, each of which may be asked for once.
func (s *messages) pick(ctx context.Context, c *Call, ids []string) ([]*abi.InputMessage, error) {
	in := c.Input.full()
	if in == nil {
		return nil, &abi.Error{Code: abi.CodeUsage, Message: "the input of this call has no messages"}
	}
	if len(ids) > len(in.Messages) {
		return nil, quotaf("", "%d ids, of %d messages: name each once", len(ids), len(in.Messages))
	}
	if s.index == nil {
		s.index = make(map[string]int, len(in.Messages))
		for i := range in.Messages {
			s.index[in.Messages[i].ID] = i
		}
	}
	picked, seen := make([]*abi.InputMessage, 0, len(ids)), make([]bool, len(in.Messages))
	for _, id := range ids {
		c.clock.tick(ctx)
		i, ok := s.index[id]
		switch {
		case !ok:
			return nil, &abi.Error{Code: abi.CodeUnknownID, Message: fmt.Sprintf("no message %q", Shorten(id, 80))}
		case seen[i]:
			return nil, &abi.Error{
				Code: abi.CodeUsage, Message: fmt.Sprintf("message %q twice: name each once", Shorten(id, 80)),
			}
		}
		seen[i], picked = true, append(picked, &in.Messages[i])
	}
	return picked, nil
}

// messageWriter writes messages into the envelope of a response, or counts
// what that takes as long as there is no doc. It looks at the clock meanwhile,
// and does nothing more after an error.
type messageWriter struct {
	ctx   context.Context
	clock *clock
	doc   []byte
	size  int64 // written or counted
	most  int64
	err   error
	piece bytes.Buffer // what is being encoded
}

func (w *messageWriter) write(b []byte) {
	if w.err != nil {
		return
	}
	w.clock.moved(w.ctx, len(b))
	if w.size += int64(len(b)); w.size > w.most {
		w.err = quotaf(
			"ask for fewer at a time",
			"the messages take more than the %d bytes that are left, in the memory of the call and in host calls", w.most,
		)
		return
	}
	if w.doc != nil {
		w.doc = append(w.doc, b...)
	}
}

func (w *messageWriter) all(messages []*abi.InputMessage) {
	w.write([]byte(resultOpen + `{"messages":[`))
	for i, m := range messages {
		if w.err != nil {
			return
		}
		Check(w.ctx)
		w.comma(i)
		w.message(m)
	}
	w.write([]byte(`]}` + resultClose))
}

// message writes a message: what may be long by itself, the rest as it is
// declared.
func (w *messageWriter) message(m *abi.InputMessage) {
	w.open(struct {
		abi.InputMessage
		Content   *struct{} `json:"content,omitempty"`
		ToolCalls *struct{} `json:"tool_calls,omitempty"`
		Raw       *struct{} `json:"raw,omitempty"`
	}{InputMessage: *m})
	w.write([]byte(`,"content":`))
	w.content(m.Content)
	if len(m.ToolCalls) > 0 {
		w.write([]byte(`,"tool_calls":[`))
		for i, call := range m.ToolCalls {
			w.comma(i)
			w.open(struct {
				abi.ToolCall
				Arguments *struct{} `json:"arguments,omitempty"`
			}{ToolCall: call})
			w.write([]byte(`,"arguments":`))
			w.text(call.Arguments)
			w.write([]byte(`}`))
		}
		w.write([]byte(`]`))
	}
	if len(m.Raw) > 0 {
		w.write([]byte(`,"raw":`))
		w.raw(m.Raw)
	}
	w.write([]byte(`}`))
}

func (w *messageWriter) content(c abi.Content) {
	if !c.IsParts() {
		w.text(c.Text())
		return
	}
	w.write([]byte(`[`))
	for i, p := range c.Parts() {
		w.comma(i)
		w.part(p)
	}
	w.write([]byte(`]`))
}

// part writes a content part. One that holds nothing but a type and a text has its text escaped piece
// by piece; any other is written whole.
func (w *messageWriter) part(p abi.Part) {
	bare, made := p, abi.Part{Type: p.Type}
	bare.Text = ""
	doc, err := bare.MarshalJSON()
	empty, _ := made.MarshalJSON()
	switch {
	case err != nil:
		w.fail(err)
	case p.Text != "" && bytes.Equal(doc, empty):
		w.write(bytes.TrimSuffix(doc, []byte(`""}`)))
		w.text(p.Text)
		w.write([]byte(`}`))
	default:
		w.raw(doc)
	}
}

// raw writes a document as it is.
func (w *messageWriter) raw(doc []byte) {
	if w.doc == nil && !json.Valid(doc) {
		w.fail(errors.New("messages.get: the host holds a message that is no JSON"))
	}
	w.write(doc)
}

// open writes an object but for its last brace.
func (w *messageWriter) open(v any) {
	w.write(bytes.TrimSuffix(w.encode(v), []byte("}")))
}

// textPiece is how much of a text is escaped at a time, in bytes.
const textPiece = 32 << 10

// text writes a string.
func (w *messageWriter) text(s string) {
	w.write([]byte(`"`))
	for s != "" && w.err == nil {
		piece := clip.Head(s, textPiece)
		if b := w.encode(piece); w.err == nil {
			w.write(b[1 : len(b)-1]) // without its quotes
		}
		s = s[len(piece):]
	}
	w.write([]byte(`"`))
}

func (w *messageWriter) comma(i int) {
	if i > 0 {
		w.write([]byte(`,`))
	}
}

func (w *messageWriter) fail(err error) { w.err = cmp.Or(w.err, err) }

// encode is json.Marshal without the escapes that are for pages, which are six
// times as long. The result is valid until the next one.
func (w *messageWriter) encode(v any) []byte {
	w.piece.Reset()
	e := json.NewEncoder(&w.piece)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		w.fail(err)
		return nil
	}
	return bytes.TrimSuffix(w.piece.Bytes(), []byte("\n"))
}
