package proxy_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/proxy"
)

const beta = "compact-2026-01-12"

// managedBody asks for a compaction from so many tokens on.
func managedBody(d dialect, els []string, at int, more string) []byte {
	field := fmt.Sprintf(`{"context_management":[{"type":"compaction","compact_threshold":%d}],%s`, at, more)
	if d.format == "anthropic" {
		field = fmt.Sprintf(`{"context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"},`+
			`{"type":"compact_20260112","trigger":{"type":"input_tokens","value":%d}%s}]},`, at, more)
	}
	d.head = strings.Replace(d.head, "{", field, 1)
	return d.body(els)
}

// TestManaged: a client that has its provider compact by itself gets the item, or the block,
// first in the answer of the request in which that took place. The provider hears nothing of
// it, and sees what was compacted, also where the client leaves out what was before.
func TestManaged(t *testing.T) {
	features.Proves(t, "N12", "I9")
	for _, d := range []dialect{dialects[0], dialects[2]} {
		t.Run(d.name, func(t *testing.T) {
			u, st := newUpstream(t), memory(t)
			s := start(t, u, 200_000, func(o *proxy.Options) { o.Store = st })
			els := d.conversation(60)
			header := []string{"Session-Id", "s1", "Anthropic-Beta", "a-1," + beta}
			body := managedBody(d, d.conversation(3), 20_000, "")
			_, _, says := s.post(t, d.path, body, header...)
			if got := u.last(t); !strings.HasPrefix(says, "none") || strings.Contains(string(got.body), "compact") ||
				got.header.Get("Anthropic-Beta") != "a-1" {
				t.Fatalf("%s: %s, %s", says, got.header.Get("Anthropic-Beta"), got.body)
			}
			if d.format == "anthropic" && !strings.Contains(string(u.last(t).body),
				`{"edits":[{"type":"clear_thinking_20251015","keep":"all"}]}`) {
				t.Errorf("another edit is gone: %s", u.last(t).body)
			}
			answer, status, says := s.post(t, d.path, managedBody(d, els, 20_000, ""), header...)
			if status != 200 || !strings.HasPrefix(says, "compacted") {
				t.Fatalf("%d %s: %s; %s", status, says, answer, s.logs)
			}
			records, err := st.Records(t.Context(), "s1") // a size that stands in each request is no person who asks
			if err != nil || len(records) != 1 || records[0].Trigger != abi.TriggerThreshold {
				t.Errorf("records %+v, %v", records, err)
			}
			small, _ := d.elements(t, u.last(t).body)
			d.whole(t, u.last(t).body)
			var got struct{ Content, Output []json.RawMessage }
			if err := json.Unmarshal(answer, &got); err != nil {
				t.Fatal(err)
			}
			said := append(got.Content, got.Output...)
			var first struct{ Type, Content string }
			if err := json.Unmarshal(said[0], &first); err != nil || first.Type != "compaction" || len(said) != 2 {
				t.Fatalf("%s", answer)
			}
			next := append(slices.Clone(els), string(said[0]), string(said[1]))
			kept := next[len(els):]
			if d.format == "anthropic" {
				if !strings.Contains(first.Content, "vendor/") {
					t.Errorf("nobody can read the block: %s", first.Content)
				}
				turn := `{"role":"assistant","content":[` + string(said[0]) + "," + string(said[1]) + `]}`
				next, kept = append(slices.Clone(els), turn), []string{turn}
			}
			next, kept = append(next, d.user("and now?")), append(slices.Clone(kept), d.user("and now?"))
			_, _, says = s.post(t, d.path, managedBody(d, next, 20_000, ""), header...)
			after, _ := d.elements(t, u.last(t).body)
			if strings.Contains(string(u.last(t).body), `"compaction"`) || len(after) != len(small)+2 ||
				!slices.Equal(after[:len(small)], small) {
				t.Errorf("the whole: %s: %d elements after %d", says, len(after), len(small))
			}
			_, _, says = s.post(t, d.path, managedBody(d, kept, 20_000, ""), header...)
			if sent := string(u.last(t).body); strings.Contains(sent, `"compaction"`) || !strings.Contains(sent, "vendor/") {
				t.Errorf("what follows alone: %s: %s", says, sent)
			}
			d.whole(t, u.last(t).body)
			if n := len(u.last(t).body); n < len(strings.Join(small, ",")) {
				t.Errorf("%d bytes of what was left are gone", len(strings.Join(small, ","))-n)
			}
		})
	}
}

// TestManagedTwice: a client sends all answers back as they came. Of several compaction blocks the last one counts
// alone; no provider hears of an earlier one, also where the answer that it came with is still in view, and in a
// process that knows nothing of the conversation. What else is in that answer stays.
func TestManagedTwice(t *testing.T) {
	features.Proves(t, "N12")
	d := dialects[0]
	for name, more := range map[string]string{"with its answer": "", "alone": `,"pause_after_compaction":true`} {
		t.Run(name, func(t *testing.T) {
			u := newUpstream(t)
			key := func(o *proxy.Options) { o.Key = []byte("a key of the state's folder") }
			s := start(t, u, 200_000, key)
			els := d.conversation(60)
			say := func(s *setup, at int, more, want string) []json.RawMessage {
				t.Helper()
				answer, status, says := s.post(t, d.path, managedBody(d, els, at, more), "Anthropic-Beta", beta)
				var got struct{ Content []json.RawMessage }
				if err := json.Unmarshal(answer, &got); err != nil || status != 200 || !strings.HasPrefix(says, want) {
					t.Fatalf("%d %s, not %s: %s; %s", status, says, want, answer, s.logs)
				}
				if sent := u.requests(); len(sent) > 0 && strings.Contains(string(u.last(t).body), `"compaction"`) {
					t.Errorf("the provider sees a block: %s", u.last(t).body)
				}
				return got.Content
			}
			reply := func(content []json.RawMessage, question string) {
				turn, _ := json.Marshal(map[string]any{"role": "assistant", "content": content})
				els = append(els, string(turn), d.user(question))
			}
			first := say(s, 20_000, more, "compacted")
			if more == "" {
				first = append(first, json.RawMessage(`{"type":"text","text":"beside the first block"}`))
			}
			reply(first, "and now?")
			reply(say(s, 5000, "", "compacted"), "and then?")
			small, _ := d.elements(t, u.last(t).body)
			if there := strings.Contains(strings.Join(small, ","), "beside the first block"); there != (more == "") {
				t.Fatalf("the tail of the second compaction: %v", small)
			}
			for range 3 {
				reply(say(s, 20_000, "", "applied"), "and then?")
				after, _ := d.elements(t, u.last(t).body)
				if len(after) < len(small) || !slices.Equal(after[:len(small)], small) {
					t.Errorf("%d elements became %d others", len(small), len(after))
				}
			}
			say(start(t, u, 200_000, key), 100_000, "", "none")
			if sent := string(u.last(t).body); !strings.Contains(sent, "vendor/") ||
				strings.Contains(sent, "beside the first block") {
				t.Errorf("the last block does not stand for what was before it: %s", sent)
			}
		})
	}
}

// TestManagedBelow: a compaction leaves less than the size at which the client wants one, however long the
// conversation was: the next request goes on with it.
func TestManagedBelow(t *testing.T) {
	features.Proves(t, "N12")
	for _, d := range []dialect{dialects[0], dialects[2]} {
		t.Run(d.name, func(t *testing.T) {
			u := newUpstream(t)
			s := start(t, u, 200_000)
			els := d.conversation(200)
			if n := counts().Text(strings.Join(els, "")); n < 40_000 {
				t.Fatalf("%d tokens are too few for this test", n)
			}
			_, _, says := s.post(t, d.path, managedBody(d, els, 10_000, ""))
			if n := counts().Text(string(u.last(t).body)); !strings.HasPrefix(says, "compacted") || n > 8000 {
				t.Errorf("%s: %d tokens were sent", says, n)
			}
			els = append(els, d.user("and now?"))
			if _, _, says = s.post(t, d.path, managedBody(d, els, 10_000, "")); !strings.HasPrefix(says, "applied") {
				t.Errorf("the next request: %s", says)
			}
		})
	}
}

// TestManagedStream: in a stream the item, or the block, comes before all else, and the
// numbers of what follows are moved on.
func TestManagedStream(t *testing.T) {
	streams := map[string][]string{
		"anthropic": {`{"type":"message_start","message":{"id":"m","usage":{"input_tokens":9,"output_tokens":1}}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"ok"}}`,
			`{"type":"content_block_stop","index":0}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}`,
			`{"type":"message_stop"}`},
		"openai responses": {`{"type":"response.created","sequence_number":0,"response":{"id":"r","output":[]}}`,
			`{"type":"response.in_progress","sequence_number":1,"response":{"id":"r","output":[]}}`,
			`{"type":"response.output_item.added","output_index":0,"sequence_number":2,"item":{"type":"message"}}`,
			`{"sequence_number":3,"type":"response.output_item.done","output_index":0,"item":{"type":"message"}}`,
			`{"type":"response.completed","sequence_number":4,"response":{"id":"r","output":[{"type":"message"}],"usage":{"input_tokens":9,"output_tokens":3}}}`},
	}
	want := map[string]string{
		"anthropic": "message_start, content_block_start 0 compaction, content_block_delta 0, content_block_stop 0, " +
			"content_block_start 1 text, content_block_delta 1, content_block_stop 1, message_delta, message_stop",
		"openai responses": "response.created #0, response.in_progress #1, response.output_item.added 0 #2 compaction, " +
			"response.output_item.done 0 #3 compaction, response.output_item.added 1 #4 message, " +
			"response.output_item.done 1 #5 message, response.completed #6 [compaction message]",
	}
	for _, d := range []dialect{dialects[0], dialects[2]} {
		t.Run(d.name, func(t *testing.T) {
			u := newUpstream(t)
			s := start(t, u, 200_000)
			u.answer = func(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
				w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
				for _, e := range streams[d.name] {
					var named struct{ Type string }
					_ = json.Unmarshal([]byte(e), &named)
					fmt.Fprintf(w, "event: %s\ndata: %s\n\n", named.Type, e)
				}
				return true
			}
			answer, _, says := s.post(t, d.path, managedBody(d, d.conversation(60), 20_000, ""))
			var got []string
			for line := range strings.Lines(string(answer)) {
				data, ok := strings.CutPrefix(line, "data: ")
				if !ok {
					continue
				}
				var e struct {
					Type         string
					Index        *int
					Output       *int                   `json:"output_index"`
					Number       *int                   `json:"sequence_number"`
					ContentBlock *struct{ Type string } `json:"content_block"`
					Item         *struct{ Type string }
					Response     struct{ Output []struct{ Type string } }
				}
				if err := json.Unmarshal([]byte(data), &e); err != nil {
					t.Fatalf("%s: %v", data, err)
				}
				line := e.Type
				for _, n := range []*int{e.Index, e.Output} {
					if n != nil {
						line += fmt.Sprint(" ", *n)
					}
				}
				if e.Number != nil {
					line += fmt.Sprint(" #", *e.Number)
				}
				if e.ContentBlock != nil {
					line += " " + e.ContentBlock.Type
				}
				if e.Item != nil {
					line += " " + e.Item.Type
				}
				if len(e.Response.Output) > 0 {
					line += " [" + e.Response.Output[0].Type + " " + e.Response.Output[1].Type + "]"
				}
				got = append(got, line)
			}
			if strings.Join(got, ", ") != want[d.name] {
				t.Errorf("%s: %s\nwant %s", says, strings.Join(got, ", "), want[d.name])
			}
		})
	}
}

// TestPause: Messages may end behind their compaction; no provider is asked then.
func TestPause(t *testing.T) {
	d := dialects[0]
	u := newUpstream(t)
	s := start(t, u, 200_000)
	body := managedBody(d, d.conversation(60), 20_000, `,"pause_after_compaction":true,"instructions":"Keep the ports."`)
	answer, status, says := s.post(t, d.path, body)
	if len(u.requests()) != 0 || status != 200 || !strings.Contains(string(answer), `"stop_reason":"compaction"`) {
		t.Errorf("%d %s: %s", status, says, answer)
	}
	answer, _, _ = s.post(t, d.path, []byte(strings.Replace(string(body), `"stream":false`, `"stream":true`, 1)),
		"Session-Id", "s2")
	if got := string(answer); !strings.Contains(got, "event: content_block_delta\ndata: ") || !strings.Contains(got,
		`"stop_reason":"compaction"`) ||
		!strings.HasSuffix(got, "{\"type\":\"message_stop\"}\n\n") {
		t.Errorf("%s", got)
	}
}

// TestStreamedOverflow: the Responses API may say in its stream that a request is too long.
func TestStreamedOverflow(t *testing.T) {
	d := dialects[2]
	u := newUpstream(t)
	s := start(t, u, 60_000, func(*proxy.Options) {})
	const refused = "event: response.created\ndata: {\"type\":\"response.created\"}\n\nevent: response.failed\ndata: " +
		`{"type":"response.failed","response":{"error":{"code":"context_length_exceeded","message":"Your input exceeds the ` +
		`context window of this model. Please adjust your input and try again."}}}` + "\n\n"
	left := 1
	u.answer = func(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
		w.Header().Set("Content-Type", "text/event-stream")
		if left--; left >= 0 {
			_, _ = io.WriteString(w, refused)
			return true
		}
		_, _ = io.WriteString(w, "event: response.created\ndata: {\"type\":\"response.created\"}\n\n"+
			"event: response.completed\ndata: {\"type\":\"response.completed\"}\n\n")
		return true
	}
	answer, _, says := s.post(t, d.path, d.body(d.conversation(90)), "Session-Id", "s1")
	if !strings.HasPrefix(says, "retried") || strings.Contains(string(answer), "failed") || strings.Count(string(answer),
		"response.created\"") != 1 {
		t.Errorf("%s: %s", says, answer)
	}
	left = 2
	answer, _, says = s.post(t, d.path, d.body(d.conversation(90)), "Session-Id", "s2")
	if string(answer) != refused {
		t.Errorf("twice: %s: %s", says, answer)
	}
}
