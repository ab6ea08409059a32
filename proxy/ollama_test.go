package proxy_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"net/url"
	"strings"
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

// TestOllamaStreams: a conversation through Ollama's own API is compacted where it reaches the window, streamed or not;
// what the last line of a stream says of its cost counts, and every line of it is the client's as it came.
func TestOllamaStreams(t *testing.T) {
	features.Proves(t, "N4")
	d := dialects[4]
	for _, streamed := range []bool{true, false} {
		t.Run(fmt.Sprint("streamed ", streamed), func(t *testing.T) {
			u := newUpstream(t)
			var said bytes.Buffer
			u.answer = func(w http.ResponseWriter, _ *http.Request, body []byte) bool {
				said.Reset()
				last := fmt.Sprintf(`{"model":"m","message":{"role":"assistant","content":""},"done_reason":"stop","done":true,`+
					`"total_duration":1,"prompt_eval_count":%d,"eval_count":7}`, counts().Text(string(body)))
				if streamed {
					w = both{w, &said}
					d.stream(w, `{"model":"m","message":{"role":"assistant","content":"o"},"done":false}`,
						`{"model":"m","message":{"role":"assistant","content":"k"},"done":false,"unknown":[1, 2]}`, last)
					return true
				}
				w.Header().Set("Content-Type", "application/json; charset=utf-8")
				fmt.Fprint(both{w, &said}, last)
				return true
			}
			st := memory(t)
			s := start(t, u, 1_000_000, func(o *proxy.Options) {
				o.Store = st
				o.NumCtx = func(string) int { return window }
			})
			compactions, input := 0, 0
			for steps := 4; steps <= 120; steps += 4 {
				answer, _, says := s.post(t, d.path, d.body(d.conversation(steps)), "Session-Id", "s1")
				sent := u.last(t).body
				n := counts().Text(string(sent))
				if input += n; n > window {
					t.Errorf("step %d: %d tokens in a window of %d: %s", steps, n, window, says)
				}
				if !bytes.Equal(answer, said.Bytes()) {
					t.Fatalf("step %d: answered %q, and the client has %q", steps, said.Bytes(), answer)
				}
				if !bytes.Contains(sent, []byte(fmt.Sprintf(`"options":{"num_ctx":%d,"temperature":0.10}`, window))) {
					t.Errorf("step %d: sent %s", steps, sent[len(sent)-200:])
				}
				if strings.HasPrefix(says, "compacted") {
					compactions++
				}
			}
			if compactions < 1 {
				t.Errorf("%d compactions; %s", compactions, s.logs)
			}
			s.http.Close() // the last answer is noted when it has passed, and the client may have it before
			s.proxy.Close()
			costs, err := st.Costs(t.Context(), "s1")
			if err != nil || len(costs) != 1 || costs[0].Calls != 30 || costs[0].InputTokens != input ||
				costs[0].OutputTokens != 30*7 {
				t.Errorf("costs %+v of an input of %d, %v", costs, input, err)
			}
		})
	}
}

// TestOllamaResultsStayWithTheirCalls: where results name another tool than was called they stand behind their calls in
// every compacted request all the same.
func TestOllamaResultsStayWithTheirCalls(t *testing.T) {
	features.Proves(t, "N4")
	d := dialects[4]
	var els []string
	for i, el := range d.conversation(120) {
		if el = strings.Replace(el, `"tool_name":"bash"`, `"tool_name":"x"`, 1); strings.Contains(el, `"tool_calls"`) {
			el = strings.Replace(el, `"content":"step`, `"content":"`+strings.Repeat("I look at it. ", 10*(i%9))+`step`, 1)
		}
		els = append(els, el)
	}
	for window := 20_000; window <= 40_000; window += 2000 {
		u := newUpstream(t)
		s := start(t, u, window, func(*proxy.Options) {})
		if _, _, says := s.post(t, d.path, d.body(els)); !strings.HasPrefix(says, "compacted") {
			t.Fatalf("a window of %d: %s", window, says)
		}
		sent, _ := d.elements(t, u.last(t).body)
		for i, el := range sent {
			calls := strings.Contains(el, `"tool_calls"`)
			if answered := i+1 < len(sent) && strings.Contains(sent[i+1], `"role":"tool"`); calls != answered {
				t.Errorf("a window of %d: message %d calls a tool: %v; a result follows: %v", window, i, calls, answered)
			}
		}
	}
}

// both writes to a client, and keeps what it wrote.
type both struct {
	http.ResponseWriter
	copied *bytes.Buffer
}

func (b both) Write(data []byte) (int, error) {
	b.copied.Write(data)
	return b.ResponseWriter.Write(data)
}

// TestOllamaSaysItsWindow: where no window is configured it is the one that Ollama has the model loaded with: by the
// request, by the model's own parameters, else as it is loaded; never more than the model takes. Nothing of it is put
// into the request, and who is no Ollama is not asked again and again.
func TestOllamaSaysItsWindow(t *testing.T) {
	features.Proves(t, "N4", "A7")
	d := dialects[4]
	const info = `"model_info":{"general.architecture":"llama","llama.context_length":131072}`
	const small = `"model_info":{"general.architecture":"llama","llama.context_length":40000}`
	for name, c := range map[string]struct {
		shows, loaded, options string
		window                 int // 0: that of the engine
	}{
		"the request's": {`{"parameters":"num_ctx 64000"}`, "", `"num_ctx":40000`, 40000},
		"the model's parameters": {`{"parameters":"stop \"<|eot|>\"\nnum_ctx                        40000",` + info + `}`,
			`{"models":[{"name":"llama3.1:latest","model":"llama3.1:latest","context_length":4096}]}`, "", 40000},
		"as it is loaded": {`{` + info + `}`, `{"models":[{"name":"other:latest","model":"other:latest","context_length":9000},` +
			`{"name":"llama3.1:latest","model":"llama3.1:latest","context_length":40000}]}`, "", 40000},
		"what the model takes":      {`{` + small + `}`, `{"models":[]}`, "", 40000},
		"more than the model takes": {`{"parameters":"num_ctx 64000",` + small + `}`, "", "", 40000},
		"no Ollama":                 {"", "", "", 0},
		"nonsense":                  {`[]`, `{"models":{}}`, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUpstream(t)
			u.shows, u.loaded = c.shows, c.loaded
			const most = 60_000
			s := start(t, u, most)
			body := d.body
			if c.options != "" {
				body = func(els []string) []byte {
					return bytes.Replace(d.body(els), []byte(`"temperature":0.10`), []byte(c.options), 1)
				}
			}
			room := c.window
			if room == 0 {
				room = most
			}
			largest := 0
			for steps := 4; steps <= 160; steps += 4 {
				s.post(t, d.path, body(d.conversation(steps)), "Session-Id", "s1", "Authorization", "Bearer k")
				sent := u.last(t).body
				largest = max(largest, counts().Text(string(sent)))
				if c.options == "" && bytes.Contains(sent, []byte("num_ctx")) {
					t.Fatalf("sent %s", sent[len(sent)-200:])
				}
			}
			if largest > room || largest < room/2 {
				t.Errorf("at most %d tokens were sent in a window of %d; %s", largest, room, s.logs)
			}
			if n := len(u.asked); n > 4 || c.options != "" && n > 0 {
				t.Errorf("it is asked %d times", n)
			}
			for _, asked := range u.asked {
				if asked.path == "/api/show" && string(asked.body) != `{"model":"llama3.1"}` ||
					asked.header.Get("Authorization") != "Bearer k" {
					t.Errorf("asked %s %s %v", asked.path, asked.body, asked.header)
				}
			}
		})
	}
}

// TestOllamasOfARoute: where a route chooses another upstream, its window is what that one says, and the key goes there
// alone.
func TestOllamasOfARoute(t *testing.T) {
	d := dialects[4]
	small, large := newUpstream(t), newUpstream(t)
	small.shows, large.shows = `{"parameters":"num_ctx 20000"}`, `{"parameters":"num_ctx 50000"}`
	other, err := url.Parse(small.URL)
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, large, 60_000, func(o *proxy.Options) {
		o.Route = func(h http.Header) *url.URL {
			if h.Get("X-Where") == "small" {
				return other
			}
			return nil
		}
	})
	for where, u := range map[string]*upstream{"large": large, "small": small} {
		largest := 0
		for steps := 4; steps <= 120; steps += 4 {
			s.post(t, d.path, d.body(d.conversation(steps)), "Session-Id", where, "X-Where", where, "Authorization",
				"Bearer "+where)
			largest = max(largest, counts().Text(string(u.last(t).body)))
		}
		if small := where == "small"; (largest <= 20_000) != small || largest > 50_000 {
			t.Errorf("%s: at most %d tokens were sent; %s", where, largest, s.logs)
		}
		for _, asked := range u.asked {
			if asked.header.Get("Authorization") != "Bearer "+where || asked.header.Get("X-Where") != "" {
				t.Errorf("%s is asked with %v", where, asked.header)
			}
		}
	}
}
