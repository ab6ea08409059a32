package proxy

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// injection is what a compaction adds to the answer of a request in which it took place: the
// item, or the block, that the client's provider would have put before all else.
type injection struct {
	wire *wire
	item []byte
}

// into puts it into a response.
func (in *injection) into(resp *http.Response) error {
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		resp.Body = &injector{injection: in, from: bufio.NewReader(resp.Body), body: resp.Body}
		resp.Header.Del("Content-Length")
		resp.ContentLength = -1
		return nil
	}
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	data = in.whole(data)
	resp.Body = io.NopCloser(bytes.NewReader(data))
	resp.ContentLength = int64(len(data))
	resp.Header.Set("Content-Length", strconv.Itoa(len(data)))
	return nil
}

// whole is an answer with it, as it came where it is none.
func (in *injection) whole(data []byte) []byte {
	key := "output"
	if in.wire == &anthropic {
		key = "content"
	}
	return in.first(data, key)
}

// first puts the item first in a list of an object.
func (in *injection) first(data []byte, key string) []byte {
	l := &lexer{doc: data}
	at := l.space(0)
	if l.at(at) != '{' {
		return data
	}
	fields, _ := l.object(span{at, l.value(at)})
	list := fields[key]
	if l.bad || !list.ok() || data[list.start] != '[' {
		return data
	}
	item := in.item
	if len(l.elements(list)) > 0 {
		item = append(bytes.Clone(item), ',')
	}
	return slices.Insert(bytes.Clone(data), list.start+1, item...)
}

// injector puts it into a stream, event by event.
type injector struct {
	*injection
	from *bufio.Reader
	body io.Closer
	out  []byte
	err  error
	done bool // it is in the stream
	next int  // the next number of an event
}

func (in *injector) Read(b []byte) (int, error) {
	for len(in.out) == 0 && in.err == nil {
		var event []byte
		event, in.err = readEvent(in.from)
		in.out = in.event(event)
	}
	if len(in.out) == 0 {
		return 0, in.err
	}
	n := copy(b, in.out)
	in.out = in.out[n:]
	return n, nil
}

func (in *injector) Close() error { return in.body.Close() }

// readEvent reads up to the empty line behind an event.
func readEvent(from *bufio.Reader) (event []byte, err error) {
	for {
		line, err := from.ReadBytes('\n')
		event = append(event, line...)
		if err != nil || len(bytes.TrimSpace(line)) == 0 {
			return event, err
		}
	}
}

// event is what becomes of an event.
func (in *injector) event(event []byte) []byte {
	at := bytes.Index(event, dataField)
	if at < 0 {
		return event
	}
	from := at + len(dataField)
	end := bytes.IndexByte(event[from:], '\n')
	if end < 0 {
		end = len(event) - from
	}
	data := bytes.TrimSpace(event[from : from+end])
	l := &lexer{doc: data}
	if l.at(0) != '{' {
		return event
	}
	fields, _ := l.object(span{0, l.value(0)})
	if l.bad {
		return event
	}
	before, now, after := in.change(l, fields, data)
	return slices.Concat(before, event[:from], []byte{' '}, now, event[from+end:], after)
}

// change is what comes before an event, what it says now, and what comes after it.
func (in *injector) change(l *lexer, fields map[string]span, data []byte) (before, now, after []byte) {
	typ := l.string(fields["type"])
	if in.wire == &anthropic {
		if typ == "message_start" && !in.done {
			in.done = true
			return nil, data, blockEvents(in.item)
		}
		return nil, in.shift(l, data, fields["index"], 1), nil
	}
	switch typ {
	case "response.created", "response.in_progress", "response.queued":
		in.next = l.number(fields["sequence_number"]) + 1
		return nil, data, nil
	}
	if !in.done {
		in.done = true
		before = in.itemEvents()
	}
	if at := fields["response"]; at.ok() {
		data = slices.Concat(data[:at.start], in.first(at.of(data), "output"), data[at.end:])
		l = &lexer{doc: data}
		fields, _ = l.object(span{0, l.value(0)})
	}
	// From the last to the first, so that places stay what they are.
	at := []span{fields["output_index"], fields["sequence_number"]}
	by := []int{1, 2}
	if at[0].start < at[1].start {
		slices.Reverse(at)
		slices.Reverse(by)
	}
	for i := range at {
		data = in.shift(&lexer{doc: data}, data, at[i], by[i])
	}
	return before, data, nil
}

// shift makes a number larger.
func (in *injector) shift(l *lexer, data []byte, at span, by int) []byte {
	if !at.ok() {
		return data
	}
	return slices.Concat(data[:at.start], []byte(strconv.Itoa(l.number(at)+by)), data[at.end:])
}

// itemEvents are the events of an item of the Responses API.
func (in *injector) itemEvents() []byte {
	var b bytes.Buffer
	for i, typ := range []string{"response.output_item.added", "response.output_item.done"} {
		fmt.Fprintf(&b, "event: %s\ndata: {\"type\":%q,\"sequence_number\":%d,\"output_index\":0,\"item\":%s}\n\n", typ, typ,
			in.next+i, in.item)
	}
	return b.Bytes()
}

// blockEvents are the events of a compaction block of Messages: its text comes in one piece.
func blockEvents(block []byte) []byte {
	l := &lexer{doc: block}
	fields, _ := l.object(span{0, len(block)})
	return fmt.Appendf(nil, "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,"+
		"\"content_block\":{\"type\":\"compaction\",\"content\":\"\"}}\n\n"+
		"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,"+
		"\"delta\":{\"type\":\"compaction_delta\",\"content\":%s}}\n\n"+
		"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n", fields["content"].of(block))
}
