package agenttest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// Chat serves a model by the chat completions API, streaming, and returns its base URL.
func Chat(tb testing.TB, m *Model) string {
	tb.Helper()
	return served(tb, m.chat) + "/v1"
}

func (m *Model) chat(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		w.Header().Set("content-type", "application/json")
		fmt.Fprint(w, `{"data":[]}`)
		return
	}
	var doc struct {
		Messages []json.RawMessage `json:"messages"`
		Tools    []json.RawMessage `json:"tools"`
	}
	_ = json.Unmarshal(body, &doc)
	req := Request{Path: r.URL.Path, Body: body, Messages: doc.Messages}
	answer, tokens := Answer{Text: "a title"}, len(body)/4
	if len(doc.Tools) > 0 || !strings.Contains(string(body), "title generator") { // which a client asks on the side
		answer, tokens = m.answer(req)
	}
	switch {
	case answer.Hold:
		<-r.Context().Done()
		return
	case answer.Status != 0:
		w.Header().Set("content-type", "application/json")
		w.WriteHeader(answer.Status)
		fmt.Fprint(w, `{"error":{"message":"something is wrong","type":"invalid_request_error"}}`)
		return
	}
	w.Header().Set("content-type", "text/event-stream")
	id := m.id("chat")
	send := func(v obj) {
		v["id"], v["object"], v["created"], v["model"] = id, "chat.completion.chunk", 1, "m1"
		text, _ := json.Marshal(v)
		fmt.Fprintf(w, "data: %s\n\n", text)
		w.(http.Flusher).Flush()
	}
	delta := func(d obj, finish any) {
		send(obj{"choices": []obj{{"index": 0, "delta": d, "finish_reason": finish}}})
	}
	delta(obj{"role": "assistant", "content": answer.Text}, nil)
	if answer.Cut {
		panic(http.ErrAbortHandler)
	}
	finish := "stop"
	for i, c := range answer.Calls {
		input, _ := json.Marshal(c.Input)
		delta(obj{"tool_calls": []obj{{"index": i, "id": m.id("call_"), "type": "function",
			"function": obj{"name": c.Name, "arguments": string(input)}}}}, nil)
		finish = "tool_calls"
	}
	delta(obj{}, finish)
	send(obj{"choices": []obj{}, "usage": obj{"prompt_tokens": tokens, "completion_tokens": 20, "total_tokens": tokens +
		20}})
	fmt.Fprint(w, "data: [DONE]\n\n")
}
