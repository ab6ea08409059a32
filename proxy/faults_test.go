package proxy_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/internal/features"
)

// refusals are what providers say of a request that is too long.
var refusals = map[string]string{
	"anthropic": `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 30000 tokens > ` +
		`20000 maximum"},"request_id":"req_1"}`,
	"openai chat": `{"error":{"message":"This model's maximum context length is 20000 tokens. However, your messages ` +
		`resulted in 30000 tokens. Please reduce the length of the messages.","type":"invalid_request_error",` +
		`"param":"messages","code":"context_length_exceeded"}}`,
	"openai responses": `{"error":{"message":"Your input exceeds the context window of this model. Please adjust your ` +
		`input and try again.","type":"invalid_request_error","param":"input","code":"context_length_exceeded"}}`,
	"gemini": `{"error":{"code":400,"message":"The input token count (30000) exceeds the maximum number of tokens ` +
		`allowed (20000).","status":"INVALID_ARGUMENT"}}`,
	"ollama": `{"error":"prompt is too long: 30000, model maximum context length: 20000"}`,
}

// refuse makes an upstream refuse the next so many requests.
func (u *upstream) refuse(times int, words string) {
	left := times
	u.answer = func(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
		if left == 0 {
			return false
		}
		left--
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Request-Id", fmt.Sprint("refusal-", left))
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, words)
		return true
	}
}

// TestOverflow: a request that the provider refuses as too long is compacted and sent once
// more. A second refusal, and one where nothing can go, is the client's as it is.
func TestOverflow(t *testing.T) {
	features.Proves(t, "K3")
	for _, d := range dialects {
		t.Run(d.name, func(t *testing.T) {
			u := newUpstream(t)
			s := start(t, u, 200_000)
			body := d.body(d.conversation(60))
			u.refuse(1, refusals[d.name])
			_, status, says := s.post(t, d.path, body, "Session-Id", "s1")
			if got := u.requests(); status != 200 || len(got) != 2 || len(got[1].body) >= len(got[0].body) ||
				!bytes.Equal(got[0].body, body) || !strings.HasPrefix(says, "retried; reason=") {
				t.Fatalf("status %d after %d requests, %s; %s", status, len(got), says, s.logs)
			}
			d.whole(t, u.last(t).body)
			_, _, says = s.post(t, d.path, d.body(d.conversation(61)), "Session-Id", "s1")
			if !strings.HasPrefix(says, "applied") {
				t.Errorf("the next request: %s", says)
			}

			u.refuse(2, refusals[d.name])
			n := len(u.requests())
			answer, status, _ := s.post(t, d.path, d.body(d.conversation(80)), "Session-Id", "s2")
			if status != http.StatusBadRequest || string(answer) != refusals[d.name] || len(u.requests()) != n+2 {
				t.Errorf("twice: status %d, %s, after %d requests", status, answer, len(u.requests())-n)
			}

			u.refuse(1, refusals[d.name])
			n = len(u.requests())
			answer, status, says = s.post(t, d.path, d.body(d.conversation(0)), "Session-Id", "s3")
			if status != http.StatusBadRequest || string(answer) != refusals[d.name] || len(u.requests()) != n+1 {
				t.Errorf("nothing can go: status %d, %s, %s", status, answer, says)
			}
		})
	}
}

// TestRefusedInStream: a refusal in a stream that has begun is one, in every wire, and the client sees nothing of it.
// What else goes wrong in a stream, and a stream that goes well, is the client's byte for byte.
func TestRefusedInStream(t *testing.T) {
	begins := map[string]string{
		"anthropic": "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\"}}\n\n" +
			"event: ping\ndata: {\"type\":\"ping\"}\n\nevent: error\n",
		"openai chat": ": PROCESSING\n\n: PROCESSING\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\"," +
			"\"content\":\"\"},\"finish_reason\":null}]}\n\n",
		"openai responses": "event: response.created\ndata: {\"type\":\"response.created\"}\n\nevent: error\n",
		"gemini":           "",
		"ollama":           "",
	}
	for _, d := range dialects {
		t.Run(d.name, func(t *testing.T) {
			u := newUpstream(t)
			body := d.body(d.conversation(90)) // more than half of the window
			streams := []string{}
			u.answer = func(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
				d.stream(w)
				_, _ = io.WriteString(w, streams[0])
				streams = streams[1:]
				return true
			}
			refused := begins[d.name] + "data: " + refusals[d.name] + "\n\n"
			well := strings.TrimSuffix(begins[d.name], "event: error\n") + "data: {\"said\":\"well\"}\n\ndata: [DONE]\n\n"
			busy := begins[d.name] +
				`data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}` + "\n\n"
			if d.lines {
				refused, busy = refusals[d.name]+"\n", `{"error":"the server is busy"}`+"\n"
				well = `{"message":{"content":"well"},"done":false}` + "\n" + `{"done":true}` + "\n"
			}
			for _, c := range []struct {
				why     string
				streams []string
				want    string
			}{
				{"refused once", []string{refused, well}, well},
				{"refused twice", []string{refused, refused}, refused},
				{"went well", []string{well}, well},
				{"overloaded", []string{busy}, busy},
				{"cut off", []string{begins[d.name]}, begins[d.name]},
			} {
				streams = c.streams
				s := start(t, u, 20_000) // it learns from a refusal
				n := len(u.requests())
				answer, status, says := s.post(t, d.path, body, "Session-Id", c.why)
				got := u.requests()[n:]
				if status != 200 || string(answer) != c.want || len(streams) != 0 {
					t.Errorf("%s: status %d, %s, %d streams are left: %q", c.why, status, says, len(streams), answer)
				}
				if len(got) == 2 && len(got[1].body) >= len(got[0].body) {
					t.Errorf("%s: sent again with %d bytes of %d", c.why, len(got[1].body), len(got[0].body))
				}
			}
		})
	}
}

// TestFaults: whatever else the provider says is the client's, byte for byte, sent once.
func TestFaults(t *testing.T) {
	for _, d := range dialects {
		for _, c := range []struct {
			status int
			body   string
		}{
			{429, `{"error":{"message":"Request too large for m in organization o on tokens per min (TPM): Limit 30000, ` +
				`Requested 40000."}}`},
			{500, "oops"}, {529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`},
			{401, `{"error":"prompt is too long"}`}, {400, `{"error":"max_tokens: too large"}`}, {404, ""}, {204, ""},
		} {
			t.Run(fmt.Sprint(d.name, " ", c.status), func(t *testing.T) {
				u := newUpstream(t)
				s := start(t, u, 200_000)
				u.answer = func(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
					w.Header().Set("Retry-After", "7")
					w.Header().Set("X-Should-Retry", "true")
					w.WriteHeader(c.status)
					_, _ = io.WriteString(w, c.body)
					return true
				}
				answer, status, _ := s.post(t, d.path, d.body(d.conversation(30)))
				if status != c.status || string(answer) != c.body || len(u.requests()) != 1 {
					t.Errorf("status %d, %q, %d requests", status, answer, len(u.requests()))
				}
			})
		}
	}
}

// TestStream: a stream arrives event by event, a cut one is cut, and a client that leaves
// ends the call.
func TestStream(t *testing.T) {
	d := dialects[0]
	u := newUpstream(t)
	s := start(t, u, 200_000)
	step := make(chan bool)
	left := make(chan bool, 1)
	u.answer = func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
		w.Header().Set("Content-Type", "text/event-stream")
		for i := 0; ; i++ {
			select {
			case <-r.Context().Done():
				left <- true
				return true
			case whole := <-step:
				if !whole {
					panic(http.ErrAbortHandler)
				}
			}
			fmt.Fprintf(w, "event: ping\ndata: {\"n\":%d}\n\n", i)
			w.(http.Flusher).Flush()
		}
	}
	open := func() *http.Response {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, s.http.URL+d.path,
			bytes.NewReader(d.body(d.conversation(3))))
		go func() { step <- true }()
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		return resp
	}
	read := func(resp *http.Response, want string) {
		t.Helper()
		got := make([]byte, len(want))
		if _, err := io.ReadFull(resp.Body, got); err != nil || string(got) != want {
			t.Fatalf("%q, %v", got, err)
		}
	}
	resp := open()
	read(resp, "event: ping\ndata: {\"n\":0}\n\n")
	step <- true
	read(resp, "event: ping\ndata: {\"n\":1}\n\n") // before there is more
	step <- false
	if rest, err := io.ReadAll(resp.Body); err == nil || len(rest) > 0 {
		t.Errorf("a cut stream ends as if it were whole: %q", rest)
	}
	resp = open()
	read(resp, "event: ping\ndata: {\"n\":0}\n\n")
	resp.Body.Close()
	select {
	case <-left:
	case <-time.After(30 * time.Second):
		t.Error("the call goes on though the client has left")
	}
}

// TestUnreachable: a provider that is not there is told from one that refuses.
func TestUnreachable(t *testing.T) {
	d := dialects[0]
	u := newUpstream(t)
	s := start(t, u, 200_000)
	u.Close()
	answer, status, _ := s.post(t, d.path, d.body(d.conversation(3)))
	if status != http.StatusBadGateway || !strings.Contains(string(answer), "kagewasm proxy") {
		t.Errorf("status %d: %s", status, answer)
	}
}
