package agenttest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// Anthropic serves a model by the Messages API, streaming, and returns its base URL.
func Anthropic(tb testing.TB, m *Model) string {
	tb.Helper()
	return served(tb, m.messages)
}

func (m *Model) messages(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if r.Method != http.MethodPost || r.URL.Path != "/v1/messages" {
		w.Header().Set("content-type", "application/json")
		fmt.Fprint(w, `{"input_tokens":10,"data":[]}`)
		return
	}
	req := Request{Path: r.URL.Path, Session: r.Header.Get("X-Claude-Code-Session-Id"),
		Agent: r.Header.Get("X-Claude-Code-Agent-Id"), Body: body}
	var doc struct {
		Messages []json.RawMessage `json:"messages"`
	}
	_ = json.Unmarshal(body, &doc)
	req.Messages = doc.Messages
	answer, tokens := m.answer(req)
	w.Header().Set("content-type", "text/event-stream")
	s := sse{w}
	s.send("message_start", obj{"message": obj{"id": m.id("msg_"), "type": "message", "role": "assistant",
		"model": "claude-sonnet-4-5", "content": []any{}, "stop_reason": nil,
		"usage": obj{"input_tokens": tokens, "output_tokens": 1}}})
	index := 0
	block := func(start, delta obj) {
		s.send("content_block_start", obj{"index": index, "content_block": start})
		s.send("content_block_delta", obj{"index": index, "delta": delta})
		if answer.Hold {
			<-r.Context().Done()
		}
		if answer.Cut || answer.Hold {
			panic(http.ErrAbortHandler)
		}
		s.send("content_block_stop", obj{"index": index})
		index++
	}
	if answer.Text != "" {
		block(obj{"type": "text", "text": ""}, obj{"type": "text_delta", "text": answer.Text})
	}
	stop := "end_turn"
	for _, c := range answer.Calls {
		input, _ := json.Marshal(c.Input)
		block(obj{"type": "tool_use", "id": m.id("toolu_"), "name": c.Name, "input": obj{}},
			obj{"type": "input_json_delta", "partial_json": string(input)})
		stop = "tool_use"
	}
	s.send("message_delta", obj{"delta": obj{"stop_reason": stop}, "usage": obj{"output_tokens": 20}})
	s.send("message_stop", obj{})
}

type obj = map[string]any

// sse writes events of a stream.
type sse struct{ w http.ResponseWriter }

func (s sse) send(event string, data obj) {
	data["type"] = event
	text, _ := json.Marshal(data)
	fmt.Fprintf(s.w, "event: %s\ndata: %s\n\n", event, text)
	s.w.(http.Flusher).Flush()
}

// Says reports whether a request holds a text, as JSON writes it.
func (r Request) Says(text string) bool {
	quoted, _ := json.Marshal(text)
	return strings.Contains(string(r.Body), strings.Trim(string(quoted), `"`))
}

// Size is how many bytes the messages of a request are.
func (r Request) Size() (n int) {
	for _, m := range r.Messages {
		n += len(m)
	}
	return n
}
