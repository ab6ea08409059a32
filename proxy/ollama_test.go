package proxy_test

import (
	"bytes"
	"compress/gzip"
	"testing"

	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/proxy"
)

// TestOllamaIsAskedForTheConfiguredWindow: a request of Ollama's own API that names no window asks for the one that is
// configured for its model; it stays the same otherwise, and every other request in all.
func TestOllamaIsAskedForTheConfiguredWindow(t *testing.T) {
	features.Proves(t, "A7")
	u := newUpstream(t)
	s := start(t, u, 200_000, func(o *proxy.Options) {
		o.NumCtx = func(model string) int { return map[string]int{"llama3.1": 20000}[model] }
		o.MaxBody = 1000
	})
	gzipped := func(text string) []byte {
		var buf bytes.Buffer
		z := gzip.NewWriter(&buf)
		if _, err := z.Write([]byte(text)); err != nil || z.Close() != nil {
			t.Fatal(err)
		}
		return buf.Bytes()
	}
	const chat, generate = "/api/chat", "/api/generate"
	long := `{"model":"llama3.1","prompt":"` + string(bytes.Repeat([]byte("x"), 2000)) + `"}`
	for _, c := range []struct{ why, path, body, want string }{
		{"no options", chat, `{"model":"llama3.1", "messages":[]}`,
			`{"options":{"num_ctx":20000},"model":"llama3.1", "messages":[]}`},
		{"to generate", generate, " {\n\t\"model\":\"llama3.1\",\"prompt\":\"hi\"}\n",
			" {\"options\":{\"num_ctx\":20000},\n\t\"model\":\"llama3.1\",\"prompt\":\"hi\"}\n"},
		{"other options", chat, `{"model":"llama3.1","options":{"temperature":0.10}}`,
			`{"model":"llama3.1","options":{"num_ctx":20000,"temperature":0.10}}`},
		{"empty options", chat, `{"model":"llama3.1","options":{ }}`, `{"model":"llama3.1","options":{"num_ctx":20000 }}`},
		{"null", chat, `{"model":"llama3.1","options":null}`, `{"model":"llama3.1","options":{"num_ctx":20000}}`},
		{"it says one", chat, `{"model":"llama3.1","options":{"num_ctx":8000}}`, ""},
		{"options of another kind", chat, `{"model":"llama3.1","options":[1]}`, ""},
		{"options twice", chat, `{"model":"llama3.1","options":{},"options":{}}`, ""},
		{"a model of which nothing is configured", chat, `{"model":"qwen3"}`, ""},
		{"no model", chat, `{"prompt":"hi"}`, ""},
		{"no JSON", chat, `{"model":"llama3.1"`, ""},
		{"nothing", chat, ``, ""},
		{"too long", generate, long, ""},
		{"something else", "/api/embed", `{"model":"llama3.1"}`, ""},
		{"OpenAI's API", "/v1/chat/completions", `{"model":"llama3.1","messages":[]}`, ""},
	} {
		want := c.want
		if want == "" {
			want = c.body
		}
		s.post(t, c.path, []byte(c.body))
		if got := u.last(t); string(got.body) != want || got.path != c.path {
			t.Errorf("%s: sent %s to %s, want %s", c.why, got.body, got.path, want)
		}
	}
	s.post(t, chat, gzipped(`{"model":"llama3.1"}`), "Content-Encoding", "gzip")
	if got := u.last(t); string(got.body) != `{"options":{"num_ctx":20000},"model":"llama3.1"}` ||
		got.header.Get("Content-Encoding") != "" {
		t.Errorf("compressed: sent %q, %v", got.body, got.header)
	}
	same := gzipped(`{"model":"qwen3"}`)
	s.post(t, chat, same, "Content-Encoding", "gzip")
	if got := u.last(t); !bytes.Equal(got.body, same) || got.header.Get("Content-Encoding") != "gzip" {
		t.Errorf("compressed, and to stay: sent %q, %v", got.body, got.header)
	}
}
