package proxy_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/proxy"
	"github.com/kagewasm/kagewasm/store"
	"github.com/kagewasm/kagewasm/tokens"
	"github.com/kagewasm/kagewasm/transcript"
)

// upstream is a provider on loopback that keeps what it was sent.
type upstream struct {
	*httptest.Server
	mu   sync.Mutex
	sent []sent
	// answer is what it does with a request; nil answers in the form of the wire.
	answer func(w http.ResponseWriter, r *http.Request, body []byte) bool
	// shows and loaded are what Ollama says of a model and of the loaded ones; it is none where they are empty.
	shows, loaded string
	asked         []sent // for that
}

type sent struct {
	path   string
	header http.Header
	body   []byte
}

func newUpstream(t testing.TB) *upstream {
	u := &upstream{}
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if u.describes(w, r, body) {
			return
		}
		u.mu.Lock()
		u.sent = append(u.sent, sent{r.URL.Path, r.Header.Clone(), body})
		answer := u.answer
		u.mu.Unlock()
		if answer == nil || !answer(w, r, body) {
			answerAs(w, r.URL.Path, body)
		}
	}))
	t.Cleanup(u.Close)
	return u
}

// describes answers what is asked about models.
func (u *upstream) describes(w http.ResponseWriter, r *http.Request, body []byte) bool {
	about := map[string]string{"/api/show": u.shows, "/api/ps": u.loaded}
	says, asked := about[r.URL.Path]
	switch {
	case !asked:
		return false
	case says == "":
		http.NotFound(w, r)
	default:
		_, _ = io.WriteString(w, says)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.asked = append(u.asked, sent{r.URL.Path, r.Header.Clone(), body})
	return true
}

func (u *upstream) requests() []sent {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Clone(u.sent)
}

func (u *upstream) last(t testing.TB) sent {
	t.Helper()
	all := u.requests()
	if len(all) == 0 {
		t.Fatal("nothing was sent upstream")
	}
	return all[len(all)-1]
}

// counts are those of an honest provider.
var counts = sync.OnceValue(func() *tokens.Counter {
	c, err := tokens.New(tokens.O200k, tokens.Options{})
	if err != nil {
		panic(err)
	}
	return c
})

// answerAs is the least answer of a wire, with what the request costs.
func answerAs(w http.ResponseWriter, path string, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	n := counts().Text(string(body))
	switch {
	case strings.HasSuffix(path, "/v1/messages"):
		fmt.Fprintf(w, `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"ok"}],`+
			`"stop_reason":"end_turn","usage":{"input_tokens":%d,"output_tokens":1}}`, n)
	case strings.HasSuffix(path, "/chat/completions"):
		fmt.Fprintf(w, `{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant",`+
			`"content":"ok"},"finish_reason":"stop"}],"usage":{"prompt_tokens":%d,"completion_tokens":1}}`, n)
	case strings.HasSuffix(path, "/responses"):
		fmt.Fprintf(w, `{"id":"r","object":"response","status":"completed","output":[{"type":"message","id":"msg_1",`+
			`"role":"assistant","content":[{"type":"output_text","text":"ok","annotations":[]}]}],`+
			`"usage":{"input_tokens":%d,"output_tokens":1}}`, n)
	case strings.HasSuffix(path, "/api/chat"):
		fmt.Fprintf(w, `{"model":"m","message":{"role":"assistant","content":"ok"},"done_reason":"stop","done":true,`+
			`"prompt_eval_count":%d,"eval_count":1}`, n)
	default:
		fmt.Fprintf(w, `{"candidates":[{"content":{"role":"model","parts":[{"text":"ok"}]},"finishReason":"STOP"}],`+
			`"usageMetadata":{"promptTokenCount":%d,"candidatesTokenCount":1}}`, n)
	}
}

// setup is a proxy before an upstream.
type setup struct {
	proxy *proxy.Proxy
	http  *httptest.Server
	logs  *logs
	store *store.Store // nil where a test has none, or its own
}

type logs struct {
	mu   sync.Mutex
	list []string
}

func (l *logs) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, line)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.list, "\n")
}

// start starts a proxy for models with a window of so many tokens.
func start(t testing.TB, u *upstream, window int, change ...func(*proxy.Options)) *setup {
	t.Helper()
	s := &setup{logs: &logs{}}
	counter, err := tokens.New(tokens.O200k, tokens.Options{})
	if err != nil {
		t.Fatal(err)
	}
	address, err := url.Parse(u.URL)
	if err != nil {
		t.Fatal(err)
	}
	opts := proxy.Options{Upstream: address, Log: s.logs.add}
	var compactor *kagewasm.Compactor
	opts.Engine = func(model string) (proxy.Engine, error) {
		m := tokens.Default().Resolve(model)
		m.ContextWindow = &window
		return proxy.Engine{Compactor: compactor, Counter: counter, Model: m}, nil
	}
	for _, c := range change {
		c(&opts)
	}
	compactor, err = kagewasm.New(kagewasm.Options{Counter: counter, Policy: proxy.Policy(kagewasm.Policy{}),
		Lookup: estimated, Audit: func(e kagewasm.Event) { s.proxy.Audit(e) }, Now: opts.Now})
	if err != nil {
		t.Fatal(err)
	}
	s.proxy, err = proxy.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	s.http = httptest.NewServer(s.proxy)
	t.Cleanup(func() {
		s.http.Close()
		s.proxy.Close()
	})
	return s
}

// estimated is a model whose provider has the last word on what a request takes: upstream
// counts the whole body.
func estimated(model string) tokens.Model {
	m := tokens.Default().Resolve(model)
	m.ExactCounts, m.TokenScale = false, 1
	return m
}

func memory(t testing.TB) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.InMemory, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// post sends a body, and returns the response with what the header says.
func (s *setup) post(t testing.TB, path string, body []byte, headers ...string) (answer []byte, status int,
	says string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.http.URL+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err = io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, resp.StatusCode, resp.Header.Get(proxy.Header)
}

// dialect writes conversations in the form of a wire.
type dialect struct {
	name, path, list string
	format           transcript.Format
	// head and tail stand around the list.
	head, tail string
	system     string // an element that leads, empty where it stands in the head
	lines      bool   // a stream is lines of JSON, and not events
	// user, and a call of the model with its result.
	user func(text string) string
	step func(k int, output string) []string
}

func quoted(text string) string { b, _ := json.Marshal(text); return string(b) }

var dialects = []dialect{
	{name: "anthropic", path: "/v1/messages", list: "messages", format: "anthropic",
		head: `{"model":"claude-sonnet-4-5","max_tokens":100,"system":[{"type":"text","text":"x-attribution: 1"},` +
			`{"type":"text","text":"You are an agent. <b>\u00e9</b>","cache_control":{"type":"ephemeral"}}],"unknown_field":{"a":[1, 2]},"messages":[`,
		tail: `],"metadata":{"user_id":"u"},"stream":false}`,
		user: func(text string) string { return `{"role":"user","content":` + quoted(text) + `}` },
		step: func(k int, output string) []string {
			return []string{
				fmt.Sprintf(`{"role":"assistant","content":[{"type":"text","text":"step %d"},{"type":"tool_use","id":"toolu_%d",`+
					`"name":"bash","input":{"command":"make test-%d"}}]}`, k, k, k),
				fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%d","content":%s}]}`, k,
					quoted(output)),
			}
		}},
	{name: "openai chat", path: "/v1/chat/completions", list: "messages", format: "openai",
		head:   `{"model":"gpt-4.1","unknown_field":1.50,"messages":[`,
		tail:   `],"tools":[{"type":"function","function":{"name":"bash","parameters":{"type":"object"}}}]}`,
		system: `{"role":"system","content":"You are an agent."}`,
		user:   func(text string) string { return `{"role":"user","content":` + quoted(text) + `}` },
		step: func(k int, output string) []string {
			return []string{
				fmt.Sprintf(`{"role":"assistant","content":"step %d","tool_calls":[{"id":"call_%d","type":"function","function":{`+
					`"name":"bash","arguments":"{\"command\":\"make test-%d\"}"}}]}`, k, k, k),
				fmt.Sprintf(`{"role":"tool","tool_call_id":"call_%d","content":%s}`, k, quoted(output)),
			}
		}},
	{name: "openai responses", path: "/v1/responses", list: "input", format: "openai-responses",
		head:   `{"model":"gpt-5","instructions":"You are an agent.","store":false,"unknown_field":null,"input":[`,
		tail:   `],"tools":[{"type":"function","name":"bash","parameters":{"type":"object"}}]}`,
		system: `{"type":"message","role":"developer","content":[{"type":"input_text","text":"Follow the rules."}]}`,
		user: func(text string) string {
			return `{"type":"message","role":"user","content":[{"type":"input_text","text":` + quoted(text) + `}]}`
		},
		step: func(k int, output string) []string {
			return []string{
				fmt.Sprintf(`{"type":"function_call","call_id":"call_%d","name":"bash","arguments":"{\"command\":\"make test-%d\"}"}`, k, k),
				fmt.Sprintf(`{"type":"function_call_output","call_id":"call_%d","output":%s}`, k, quoted(output)),
			}
		}},
	{name: "gemini", path: "/v1beta/models/gemini-2.5-pro:generateContent", list: "contents", format: "gemini",
		head: `{"systemInstruction":{"parts":[{"text":"You are an agent."}]},"unknown_field":true,"contents":[`,
		tail: `],"generationConfig":{"temperature":0.10}}`,
		user: func(text string) string { return `{"role":"user","parts":[{"text":` + quoted(text) + `}]}` },
		step: func(k int, output string) []string {
			return []string{
				fmt.Sprintf(`{"role":"model","parts":[{"functionCall":{"name":"bash","args":{"command":"make test-%d"}}}]}`, k),
				fmt.Sprintf(`{"role":"user","parts":[{"functionResponse":{"name":"bash","response":{"output":%s}}}]}`,
					quoted(output)),
			}
		}},
	{name: "ollama", path: "/api/chat", list: "messages", format: "openai", lines: true,
		head:   `{"model":"llama3.1","unknown_field":1.50,"messages":[`,
		tail:   `],"options":{"temperature":0.10},"tools":[{"type":"function","function":{"name":"bash"}}],"stream":false}`,
		system: `{"role":"system","content":"You are an agent."}`,
		user:   func(text string) string { return `{"role":"user","content":` + quoted(text) + `}` },
		step: func(k int, output string) []string {
			return []string{
				fmt.Sprintf(`{"role":"assistant","content":"step %d","tool_calls":[{"function":{"name":"bash","arguments":{`+
					`"command":"make test-%d"}}}]}`, k, k),
				fmt.Sprintf(`{"role":"tool","tool_name":"bash","content":%s}`, quoted(output)),
			}
		}},
}

// stream writes parts of an answer as the wire streams them.
func (d *dialect) stream(w http.ResponseWriter, parts ...string) {
	form := "data: %s\n\n"
	w.Header().Set("Content-Type", "text/event-stream")
	if d.lines {
		form = "%s\n"
		w.Header().Set("Content-Type", "application/x-ndjson")
	}
	for _, part := range parts {
		fmt.Fprintf(w, form, part)
	}
}

// output is what a tool says in step k, of some 400 tokens.
func output(k int) string {
	var b strings.Builder
	for i := range 20 {
		fmt.Fprintf(&b, "src/pkg%d/file%d.go:%d: undefined: handler%d in module example.com/m%d\n", k, i, i*7, k*20+i, k)
	}
	return b.String()
}

// conversation is one after so many steps.
func (d *dialect) conversation(steps int) (els []string) {
	if d.system != "" {
		els = append(els, d.system)
	}
	els = append(els, d.user("Make the tests of this project pass. Never touch the folder vendor/."))
	for k := range steps {
		els = append(els, d.step(k, output(k))...)
	}
	return els
}

func (d *dialect) body(els []string) []byte {
	return []byte(d.head + strings.Join(els, ",") + d.tail)
}

// elements are those of a body's list, and what stands around it.
func (d *dialect) elements(t testing.TB, body []byte) (els []string, around map[string]json.RawMessage) {
	t.Helper()
	if err := json.Unmarshal(body, &around); err != nil {
		t.Fatalf("%s: %v", d.name, err)
	}
	var list []json.RawMessage
	if err := json.Unmarshal(around[d.list], &list); err != nil {
		t.Fatal(err)
	}
	for _, el := range list {
		els = append(els, string(el))
	}
	delete(around, d.list)
	return els, around
}

// whole fails where calls and results of a body do not belong together.
func (d *dialect) whole(t testing.TB, body []byte) {
	t.Helper()
	s, err := transcript.Read("sent", body, d.format)
	if err != nil {
		t.Fatalf("%s: %v", d.name, err)
	}
	calls := make(map[string]int)
	for _, m := range s.Messages {
		for _, c := range m.ToolCalls {
			calls[c.ID]++
		}
		if m.Role == abi.RoleTool {
			calls[m.ToolCallID]--
		}
	}
	for id, n := range calls {
		if n != 0 {
			t.Errorf("%s: call %s: %+d calls without results", d.name, id, n)
		}
	}
}
