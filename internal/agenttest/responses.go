package agenttest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// Responses serves a model by the Responses API, streaming, and returns its base URL. Unless the model compacts it
// knows nothing of compactions: a request that holds one is refused.
func Responses(tb testing.TB, m *Model) string {
	tb.Helper()
	return served(tb, m.responses)
}

func (m *Model) responses(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if r.Header.Get("Content-Encoding") == "zstd" {
		if z, err := zstd.NewReader(nil); err == nil {
			body, _ = z.DecodeAll(body, nil)
			z.Close()
		}
	}
	if !strings.HasSuffix(r.URL.Path, "/responses") {
		w.Header().Set("content-type", "application/json")
		fmt.Fprint(w, `{"models":[],"data":[]}`)
		return
	}
	var doc struct {
		Input []json.RawMessage `json:"input"`
	}
	_ = json.Unmarshal(body, &doc)
	if n := len(doc.Input); m.Compacts && n > 0 && strings.Contains(string(doc.Input[n-1]), `"type":"compaction_trigger"`) {
		item := obj{"type": "compaction", "id": m.id("cmp_"), "encrypted_content": "gAAAA"}
		m.respond(w, r, Answer{}, []obj{item}, len(body)/4)
		return
	}
	answer, tokens := m.answer(Request{Path: r.URL.Path, Session: r.Header.Get("Thread-Id"), Body: body,
		Messages: doc.Input})
	for _, it := range doc.Input {
		if !m.Compacts && strings.Contains(string(it), `"type":"compaction`) {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"error":{"type":"invalid_request_error","message":"Invalid value: 'compaction'."}}`)
			return
		}
	}
	var items []obj
	if answer.Text != "" {
		items = append(items, obj{"type": "message", "id": m.id("msg_"), "role": "assistant", "status": "completed",
			"content": []obj{{"type": "output_text", "text": answer.Text, "annotations": []any{}}}})
	}
	for _, c := range answer.Calls {
		args, _ := json.Marshal(c.Input)
		item := obj{"type": "function_call", "id": m.id("fc_"), "status": "completed", "call_id": m.id("call_"),
			"name": c.Name, "arguments": string(args)}
		if c.Namespace != "" {
			item["namespace"] = c.Namespace
		}
		items = append(items, item)
	}
	if answer.Hold && len(items) == 0 {
		<-r.Context().Done()
		return
	}
	m.respond(w, r, answer, items, tokens)
}

// respond streams the items of an answer. Of one that is held back the text has begun.
func (m *Model) respond(w http.ResponseWriter, r *http.Request, answer Answer, items []obj, tokens int) {
	id := m.id("resp_")
	w.Header().Set("content-type", "text/event-stream")
	s := sse{w}
	s.send("response.created", obj{"response": obj{"id": id, "object": "response", "status": "in_progress",
		"output": []any{}}})
	if answer.Hold {
		s.send("response.output_item.added", obj{"output_index": 0, "item": obj{"type": "message", "id": items[0]["id"],
			"role": "assistant", "status": "in_progress", "content": []any{}}})
		s.send("response.output_text.delta", obj{"output_index": 0, "content_index": 0, "item_id": items[0]["id"],
			"delta": answer.Text})
		<-r.Context().Done()
		return
	}
	for i, it := range items {
		s.send("response.output_item.done", obj{"output_index": i, "item": it})
		if answer.Cut {
			panic(http.ErrAbortHandler)
		}
	}
	s.send("response.completed", obj{"response": obj{"id": id, "object": "response", "status": "completed",
		"output": items,
		"usage": obj{"input_tokens": tokens, "input_tokens_details": obj{"cached_tokens": 0}, "output_tokens": 20,
			"output_tokens_details": obj{"reasoning_tokens": 0}, "total_tokens": tokens + 20}}})
}
