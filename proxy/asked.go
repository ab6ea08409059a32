package proxy

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/sealmark"
	"github.com/kagewasm/kagewasm/internal/set"
	"github.com/kagewasm/kagewasm/tokens"
)

// Clients of the Responses API ask their provider for compactions. They are answered here,
// for any provider: by an item that only this proxy can read, which stands for all that was
// there before, and which it writes out again in later requests.

// asking is how a client asks for a compaction.
type asking string

const (
	askedNot     asking = ""
	askedTrigger asking = "compaction_trigger" // the last item of a request
	askedCompact asking = "compact"            // POST responses/compact
	askedPause   asking = "pause"              // Messages that end behind their compaction
)

// itemType is the type of an item.
func (d *document) itemType(at span) string { return d.member(at, "type") }

// opened writes out what this proxy has sealed. What the client repeats of that goes; what it
// says again beside it stays. what is the last compaction that was opened, nil where there is none.
func (p *Proxy) opened(w *wire, d *document) (open *document, what *sealed) {
	if w != &responses || !bytes.Contains(d.doc, []byte(sealmark.Prefix)) {
		return d, nil
	}
	last := -1
	own := make(map[int]bool)
	for i, at := range d.els {
		if !isCompaction(d.itemType(at)) {
			continue
		}
		if s := p.sealer.open(d.member(at, "encrypted_content"), p.opts.MaxBody); s != nil {
			last, what, own[i] = i, s, true
		}
	}
	if what == nil {
		return d, nil
	}
	covered := set.Of(lists.Map(what.Covers, func(c []byte) string { return string(c) })...)
	var els [][]byte
	for i, at := range d.els {
		text := at.of(d.doc)
		switch {
		case i < d.lead || i > last:
			els = append(els, text)
		case i == last:
			for _, item := range what.Items {
				els = append(els, []byte(item))
			}
		case !own[i] && !covered[string(cover(text))]:
			els = append(els, text)
		}
	}
	if out := w.read(d.withList(els)); out != nil {
		return out, what
	}
	return d, nil
}

func isCompaction(typ string) bool { return typ == "compaction" || typ == "compaction_summary" }

// withList is the body with other elements.
func (d *document) withList(els [][]byte) []byte {
	return slices.Concat(d.doc[:d.list.start+1], bytes.Join(els, []byte{','}), d.doc[d.list.end-1:])
}

// without is the body without a field.
func (d *document) without(key string) []byte {
	at := d.fields[key]
	if !at.ok() {
		return d.doc
	}
	from, to := d.names[key].start, d.space(at.end)
	if d.at(to) == ',' {
		to++
	} else {
		for from > 0 && d.doc[from-1] != ',' && d.doc[from-1] != '{' {
			from--
		}
		if d.doc[from-1] == ',' {
			from--
		}
	}
	return slices.Concat(d.doc[:from], d.doc[to:])
}

// asksFor finds out how a client asks for a compaction, and takes the asking out of the
// request.
func (w *wire) asksFor(path string, d *document) (asking, *document) {
	if w != &responses {
		return askedNot, d
	}
	if strings.HasSuffix(path, compactPath) {
		return askedCompact, d
	}
	last := len(d.els) - 1
	if last < 1 || d.itemType(d.els[last]) != string(askedTrigger) {
		return askedNot, d
	}
	els := make([][]byte, last)
	for i := range els {
		els[i] = d.els[i].of(d.doc)
	}
	if out := w.read(d.withList(els)); out != nil {
		return askedTrigger, out
	}
	return askedNot, d
}

const compactPath = "/responses/compact"

// askedShare is what a compaction leaves that a client asked for, as a share of what there
// is: it comes when the client finds its window full, and the next one is to be far.
const askedShare = 0.3

// compacted makes the item that stands for the conversation.
func (e *exchange) compacted(ctx context.Context) (item json.RawMessage, err error) {
	if _, err = e.look(ctx, look{reason: abi.TriggerManual, asked: true}); err != nil {
		return nil, err
	}
	now := e.doc
	if e.plan != nil {
		now = e.wire.read(e.plan.apply(e.doc))
	}
	return e.sealed(now)
}

// sealed is the item for all that a client has sent, of which now is what is left.
func (e *exchange) sealed(now *document) (item json.RawMessage, err error) {
	what := &sealed{Session: e.family.id}
	switch {
	case e.plan != nil:
		what.Session, what.Record = e.plan.session, e.plan.record
	case e.origin != nil:
		what.Session, what.Record = e.origin.Session, e.origin.Record
	}
	for _, at := range now.els[now.lead:] {
		what.Items = append(what.Items, string(at.of(now.doc)))
	}
	for _, at := range e.client.els {
		what.Covers = append(what.Covers, cover(at.of(e.client.doc)))
	}
	text, err := e.p.sealer.seal(what)
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string]string{"type": "compaction", "id": newID("cmp_"), "encrypted_content": text})
}

func newID(prefix string) string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails
	return prefix + hex.EncodeToString(b)
}

// answer is what is answered here.
type answer struct{ *exchange }

// reply answers a client that asked for a compaction, in the form it asked in.
func (e answer) reply(w http.ResponseWriter) {
	w.Header().Set(Header, e.says.String())
	if e.how == askedPause {
		e.paused(w)
		return
	}
	if e.how == askedTrigger && e.doc.is("stream", "true") {
		e.stream(w)
		return
	}
	answer := e.response("completed", []json.RawMessage{e.item})
	if e.how == askedCompact {
		output := lists.Map(e.doc.els[:e.doc.lead], func(at span) json.RawMessage { return at.of(e.doc.doc) })
		answer = map[string]any{"id": newID("resp_"), "object": "response.compaction", "created_at": e.began.Unix(),
			"output": append(output, e.item), "usage": usageOf(e.spent)}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}

// paused answers with the compaction block alone.
func (e answer) paused(w http.ResponseWriter) {
	usage := map[string]any{"input_tokens": 0, "output_tokens": 0, "cache_creation_input_tokens": 0,
		"cache_read_input_tokens": 0, "iterations": []map[string]any{{"type": "compaction", "input_tokens": e.spent.Input,
			"output_tokens": e.spent.Output, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}}}
	message := map[string]any{"id": newID("msg_"), "type": "message", "role": "assistant", "model": e.model,
		"content": []json.RawMessage{}, "stop_reason": nil, "stop_sequence": nil, "usage": usage}
	if !e.doc.is("stream", "true") {
		message["content"], message["stop_reason"] = []json.RawMessage{e.item}, "compaction"
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(message)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(event map[string]any) {
		data, _ := json.Marshal(event) // of what was made here
		_, _ = w.Write(slices.Concat([]byte("event: "), []byte(event["type"].(string)), []byte("\ndata: "), data,
			[]byte("\n\n")))
	}
	send(map[string]any{"type": "message_start", "message": message})
	_, _ = w.Write(blockEvents(e.item))
	send(map[string]any{"type": "message_delta", "delta": map[string]any{"stop_reason": "compaction",
		"stop_sequence": nil},
		"usage": usage})
	send(map[string]any{"type": "message_stop"})
}

// stream sends the events of a response that consists of the item.
func (e answer) stream(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	none := []json.RawMessage{}
	begun := e.response("in_progress", none)
	done := e.response("completed", []json.RawMessage{e.item})
	done["id"] = begun["id"]
	for i, event := range []map[string]any{
		{"type": "response.created", "response": begun},
		{"type": "response.in_progress", "response": begun},
		{"type": "response.output_item.added", "output_index": 0, "item": e.item},
		{"type": "response.output_item.done", "output_index": 0, "item": e.item},
		{"type": "response.completed", "response": done},
	} {
		event["sequence_number"] = i
		data, err := json.Marshal(event)
		if err != nil {
			return
		}
		_, _ = w.Write(slices.Concat([]byte("event: "), []byte(event["type"].(string)), []byte("\ndata: "), data,
			[]byte("\n\n")))
	}
}

// response is a response of the Responses API with all that its schema requires.
func (e answer) response(status string, output []json.RawMessage) map[string]any {
	r := map[string]any{"id": newID("resp_"), "object": "response", "created_at": e.began.Unix(), "status": status,
		"model": e.model, "output": output, "error": nil, "incomplete_details": nil, "instructions": nil,
		"metadata": map[string]string{}, "parallel_tool_calls": true, "temperature": 1.0, "top_p": 1.0,
		"tool_choice": "auto", "tools": []string{}, "usage": nil}
	if status == "completed" {
		r["usage"] = usageOf(e.spent)
	}
	return r
}

// usageOf is what a compaction took of models: nothing, unless one wrote the summary.
func usageOf(u tokens.Usage) map[string]any {
	return map[string]any{"input_tokens": u.Input, "input_tokens_details": map[string]int{"cached_tokens": 0},
		"output_tokens": u.Output, "output_tokens_details": map[string]int{"reasoning_tokens": 0},
		"total_tokens": u.Input + u.Output}
}
