package proxy_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/internal/compilers"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/internal/soak"
)

// provider answers all wires in the forms of their providers. What is asked last says how:
// fail, busy (refused once), slow (until the client leaves), use a tool. It knows nothing of
// compactions.
type provider struct {
	mu   sync.Mutex
	busy map[string]bool
	left chan bool
}

func (p *provider) answer(w http.ResponseWriter, r *http.Request, body []byte) bool {
	last := string(body[max(0, len(body)-2000):])
	stream := bytes.Contains(body, []byte(`"stream":true`)) || strings.Contains(r.URL.Path, ":streamGenerate")
	fail := func(status int, message string) bool {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Retry-After-Ms", "1")
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"type":"error","error":{"type":"invalid_request_error","code":"x","status":"INVALID_ARGUMENT","message":%q}}`, message)
		return true
	}
	switch {
	case bytes.Contains(body, []byte(`"type":"compaction"`)), bytes.Contains(body, []byte("context_management")):
		return fail(400, "context_management: Extra inputs are not permitted")
	case strings.Contains(last, `"fail"`):
		return fail(400, "you asked for it")
	case strings.Contains(last, `"busy `):
		p.mu.Lock()
		was := p.busy[r.URL.Path]
		p.busy[r.URL.Path] = true
		p.mu.Unlock()
		if !was {
			return fail(429, "slow down")
		}
	case strings.Contains(last, `"slow"`):
		w.Header().Set("Content-Type", "text/event-stream")
		event, data := "message_start", `{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}`
		switch {
		case strings.HasSuffix(r.URL.Path, "completions"):
			event, data = "x", `{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"a"}}]}`
		case strings.HasSuffix(r.URL.Path, "responses"):
			event, data = "response.created", streamsOf[2][0]
		case strings.Contains(r.URL.Path, "GenerateContent"):
			event, data = "", streamsOf[3][0]
		}
		if event != "" {
			fmt.Fprintf(w, "event: %s\n", event)
		}
		fmt.Fprintf(w, "data: %s\n\n", data)
		w.(http.Flusher).Flush()
		select {
		case <-r.Context().Done():
			p.left <- true
		case <-time.After(time.Minute):
		}
		return true
	}
	tool := strings.Contains(last, "use a tool")
	if !stream && !tool {
		return false // the plain answers
	}
	if tool {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case strings.HasSuffix(r.URL.Path, "responses"):
			_, _ = io.WriteString(w, `{"id":"r","object":"response","status":"completed","output":[{"type":"function_call",`+
				`"id":"fc_1","call_id":"call_1","name":"run","arguments":"{}","status":"completed"}]}`)
		case strings.Contains(r.URL.Path, "enerateContent"):
			_, _ = io.WriteString(w, `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"run",`+
				`"args":{}}}]},"finishReason":"STOP"}]}`)
		case strings.HasSuffix(r.URL.Path, "completions"):
			_, _ = io.WriteString(w, `{"id":"c","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":null,`+
				`"tool_calls":[{"id":"call_1","type":"function","function":{"name":"run","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`)
		default:
			_, _ = io.WriteString(w, `{"id":"m","type":"message","role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"run",`+
				`"input":{}}],"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":1}}`)
		}
		return true
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range streamsOf[slices.IndexFunc(dialects, func(d dialect) bool {
		return d.path == r.URL.Path || strings.Contains(r.URL.Path, "generateContent") && d.name == "gemini" ||
			strings.Contains(r.URL.Path, "streamGenerate") && d.name == "gemini"
	})] {
		var named struct{ Type string }
		if json.Unmarshal([]byte(e), &named) == nil && named.Type != "" {
			fmt.Fprintf(w, "event: %s\n", named.Type)
		}
		fmt.Fprintf(w, "data: %s\n\n", e)
		w.(http.Flusher).Flush()
	}
	return true
}

const outputItem = `{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"ok","annotations":[]}]}`

// streamsOf are the events of the text "ok", wire by wire.
var streamsOf = [][]string{
	{`{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":9,"output_tokens":1}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`, `{"type":"ping"}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"ok"}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}`, `{"type":"message_stop"}`},
	{`{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":"o"}}]}`,
		`{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"k"},"finish_reason":"stop"}]}`,
		`{"id":"c","object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":1,"total_tokens":10}}`, `[DONE]`},
	{`{"type":"response.created","sequence_number":0,"response":{"id":"r","object":"response","status":"in_progress","output":[]}}`,
		`{"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"type":"message","id":"msg_1","role":"assistant","status":"in_progress","content":[]}}`,
		`{"type":"response.content_part.added","sequence_number":2,"item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]}}`,
		`{"type":"response.output_text.delta","sequence_number":3,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"ok","logprobs":[]}`,
		`{"type":"response.output_item.done","sequence_number":4,"output_index":0,"item":` + outputItem + `}`,
		`{"type":"response.completed","sequence_number":5,"response":{"id":"r","object":"response","status":"completed","output":[` + outputItem +
			`],"usage":{"input_tokens":9,"output_tokens":1,"total_tokens":10}}}`},
	{`{"candidates":[{"content":{"role":"model","parts":[{"text":"o"}]}}]}`,
		`{"candidates":[{"content":{"role":"model","parts":[{"text":"k"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":1}}`},
}

// TestSDKs: the official SDKs see through the proxy what they see without it, and its compaction
// APIs are what they want.
func TestSDKs(t *testing.T) {
	features.Proves(t, "N4", "N12")
	soak.Only(t, "runs the official SDKs in Node")
	modules := filepath.Join(shared.Root(t), "build", "sdks")
	if _, err := os.Stat(filepath.Join(modules, "node_modules", "openai")); err != nil {
		if slices.Contains(strings.Split(os.Getenv(compilers.Require), ","), "sdks") {
			t.Fatal("the SDKs are not installed: make npm-sdks")
		}
		t.Skip("the SDKs are not installed: make npm-sdks")
	}
	run := func(base string) map[string]string {
		out, err := exec.CommandContext(t.Context(), "node", filepath.Join("testdata", "sdk", "sdk.mjs"), base,
			modules).Output()
		if err != nil {
			t.Fatalf("%v: %s", err, err.(*exec.ExitError).Stderr)
		}
		said := make(map[string]string)
		for line := range strings.Lines(string(out)) {
			var one struct {
				Name  string
				Value json.RawMessage
			}
			if err := json.Unmarshal([]byte(line), &one); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			said[one.Name] = string(one.Value)
		}
		return said
	}
	u := newUpstream(t)
	serve := func() *provider {
		p := &provider{busy: make(map[string]bool), left: make(chan bool, 9)}
		u.answer = p.answer
		return p
	}
	serve()
	direct := run(u.URL)
	p := serve()
	through := run(start(t, u, 12_000).http.URL)
	want := map[string]string{
		"endpoint compact":        `{"object":"response.compaction","types":["compaction"],"usage":"number","text":"ok"}`,
		"endpoint managed":        `{"types":["compaction","message"],"text":"ok"}`,
		"endpoint managed stream": `{"types":["compaction","message"],"text":"ok"}`,
		"endpoint edit":           `{"types":["compaction","text"],"note":true,"again":[{"type":"text","text":"ok"}]}`,
		"endpoint edit stream":    `{"types":["compaction","text"],"note":true}`,
		"endpoint pause":          `[{"stop":"compaction","types":["compaction"]},{"stop":"compaction","types":["compaction"]}]`,
	}
	for name, was := range direct {
		if !strings.HasPrefix(name, "endpoint") {
			want[name] = was
		}
	}
	for name, was := range direct {
		if strings.Contains(was, `"error"`) != strings.HasSuffix(name, "error") && !strings.HasPrefix(name, "endpoint") {
			t.Errorf("%s without the proxy: %s", name, was)
		}
	}
	for name, wanted := range want {
		if through[name] != wanted {
			t.Errorf("%s: %s\nwant %s", name, through[name], wanted)
		}
	}
	for range 4 { // one for each wire
		select {
		case <-p.left:
		case <-time.After(30 * time.Second):
			t.Fatal("a call goes on though the client has left")
		}
	}
	largest := 0
	for _, r := range u.requests()[len(u.requests())/2:] {
		if strings.Contains(r.path, "compact") {
			t.Errorf("%s reached the provider", r.path)
		}
		largest = max(largest, counts().Text(string(r.body)))
	}
	t.Logf("%d calls of the SDKs, requests of %d tokens at most in a window of 12,000", len(through), largest)
	if largest > 13_500 { // the provider has said nothing of them yet
		t.Errorf("%d tokens", largest)
	}
}
