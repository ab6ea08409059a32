package proxy_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/hosttest"
	"github.com/kagewasm/kagewasm/proxy"
	"github.com/kagewasm/kagewasm/tokens"
)

// listened is an engine in a window of so many tokens with one plugin, for who hears when compactions start.
func listened(t *testing.T, p hooks.Plugin, window int, started func(kagewasm.Event)) func(*proxy.Options) {
	return func(o *proxy.Options) {
		counter := counts()
		c, err := kagewasm.New(kagewasm.Options{Counter: counter, Policy: proxy.Policy(kagewasm.Policy{}),
			Plugins: []hooks.Plugin{p}, Audit: func(e kagewasm.Event) {
				if e.Type == kagewasm.EventTriggered {
					started(e)
				}
			}})
		if err != nil {
			t.Fatal(err)
		}
		o.Engine = func(model string) (proxy.Engine, error) {
			m := tokens.Default().Resolve(model)
			m.ContextWindow = &window
			return proxy.Engine{Compactor: c, Counter: counter, Model: m}, nil
		}
	}
}

// calling is an answer of each wire that calls a tool.
var calling = map[string]string{
	"anthropic": `{"type":"message","role":"assistant","content":[{"type":"text","text":"I look."},{"type":"tool_use",` +
		`"id":"toolu_x","name":"bash","input":{}}],"stop_reason":"tool_use","usage":{"input_tokens":9,"output_tokens":1}}`,
	"openai chat": `{"choices":[{"message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_x","type":"function",` +
		`"function":{"name":"bash","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":9}}`,
	"openai responses": `{"object":"response","status":"completed","output":[{"type":"function_call","call_id":"call_x",` +
		`"name":"bash","arguments":"{}"}],"usage":{"input_tokens":9,"output_tokens":1}}`,
	"gemini": `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"bash","args":{}}}]},` +
		`"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":9}}`,
	"ollama": `{"message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"bash","arguments":{}}}]},` +
		`"done_reason":"stop","done":true,"prompt_eval_count":9}`,
}

// saying is an answer of each wire as a stream: it says "All done."
var saying = map[string][]string{
	"anthropic": {`{"type":"message_start","message":{"usage":{"input_tokens":9}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"All "}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"done."}}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}`, `{"type":"message_stop"}`},
	"openai chat": {`{"choices":[{"index":0,"delta":{"role":"assistant","content":"All "}}]}`,
		`{"choices":[{"index":0,"delta":{"content":"done."}}]}`, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`,
		`[DONE]`},
	"openai responses": {`{"type":"response.created","response":{"status":"in_progress"}}`,
		`{"type":"response.output_text.delta","delta":"All done."}`,
		`{"type":"response.output_item.done","item":{"type":"message","role":"assistant","content":[{"type":"output_text",` +
			`"text":"All done."}]}}`,
		`{"type":"response.completed","response":{"status":"completed","output":[{"type":"message","role":"assistant",` +
			`"content":[{"type":"output_text","text":"All done."}]}],"usage":{"input_tokens":9,"output_tokens":2}}}`},
	"gemini": {`{"candidates":[{"content":{"role":"model","parts":[{"text":"I think","thought":true},{"text":"All "}]}}]}`,
		`{"candidates":[{"content":{"role":"model","parts":[{"text":"done."}]},"finishReason":"STOP"}]}`},
	"ollama": {`{"message":{"role":"assistant","content":"","thinking":"I think"},"done":false}`,
		`{"message":{"role":"assistant","content":"All "},"done":false}`,
		`{"message":{"role":"assistant","content":"done."},"done":false}`,
		`{"message":{"role":"assistant","content":""},"done_reason":"stop","done":true,"prompt_eval_count":9,"eval_count":2}`},
}

// TestTurns: plugins hear of a turn when an answer calls no tool, with that answer, whole or streamed; and what one of
// them asks for is compacted with the next request, with its instructions. A request that nobody answers and one on the
// side end no turn.
func TestTurns(t *testing.T) {
	features.Proves(t, "T2", "O4")
	for _, d := range dialects {
		t.Run(d.name, func(t *testing.T) {
			heard := make(chan *abi.Input, 100)
			p := &hosttest.Plugin{Name: "asks", Grants: []abi.Capability{abi.CapCompactionRequest},
				Turn: func(in *abi.Input) (*abi.Output, error) {
					heard <- in
					return &abi.Output{RequestCompaction: &abi.CompactionRequest{Instructions: "the ports"}}, nil
				}}
			u := newUpstream(t)
			var instructions []string
			s := start(t, u, 100_000, listened(t, p, 100_000, func(e kagewasm.Event) {
				instructions = append(instructions, string(e.Trigger)+" "+e.Given.Instructions)
			}))
			els := d.conversation(12)
			u.answer = func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
				switch r.Header.Get("X-Answer") {
				case "calls":
					w.Header().Set("Content-Type", "application/json")
					fmt.Fprint(w, calling[d.name])
				case "streams":
					d.stream(w, saying[d.name]...)
				case "fails":
					w.WriteHeader(http.StatusInternalServerError)
				default:
					return false
				}
				return true
			}
			for _, how := range []string{"calls", "fails", "streams"} {
				_, _, says := s.post(t, d.path, d.body(els), "X-Answer", how, "Kagewasm-Session", "talk")
				if strings.Contains(says, "compacted") {
					t.Errorf("an answer that %s: %s", how, says)
				}
			}
			in := next(t, heard)
			if last := in.Messages[len(in.Messages)-1]; last.Role != abi.RoleAssistant || last.Text() != "All done." ||
				in.Session.ID != "talk" {
				t.Fatalf("the plugin heard %s %q in %q", last.Role, last.Text(), in.Session.ID)
			}
			s.post(t, d.path, d.body([]string{d.user("A title for that?")}), "Kagewasm-Session", "talk")
			els = append(els, d.user("Go on."))
			for range 40 { // nobody waits for plugins, so what one wants may come a request later
				_, _, says := s.post(t, d.path, d.body(els), "X-Answer", "calls", "Kagewasm-Session", "talk")
				if strings.Contains(says, "compacted") {
					d.whole(t, u.last(t).body)
					if !strings.Contains(string(u.last(t).body), "compaction_summary-") || len(instructions) != 1 ||
						instructions[0] != "plugin asks: the ports" {
						t.Errorf("asked for %q", instructions)
					}
					if len(heard) != 0 {
						t.Errorf("the plugin heard of %d turns more", len(heard))
					}
					return
				}
				time.Sleep(20 * time.Millisecond)
			}
			t.Errorf("what the plugin wanted is not compacted: %q\n%s", instructions, s.logs)
		})
	}
}

// next is what a plugin hears of next.
func next(t *testing.T, heard <-chan *abi.Input) *abi.Input {
	t.Helper()
	select {
	case in := <-heard:
		return in
	case <-time.After(time.Minute):
		t.Fatal("the plugin heard of no turn")
		return nil
	}
}
