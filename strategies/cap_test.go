package strategies_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/sessiongen"
	"github.com/kagewasm/kagewasm/strategies"
	"github.com/kagewasm/kagewasm/tokens"
)

// picture is an image of n bytes as the Anthropic format has it.
func picture(n int) abi.Part {
	return abi.RawPart("image", json.RawMessage(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"`+strings.Repeat("iVBORw0K", n/6)+`"}}`))
}

// TestComplaint5Cap: a giant in the protected tail or the current turn, as a
// result or as arguments, must not make every request fail.
func TestComplaint5Cap(t *testing.T) {
	msgs := results("bash:100", "read:9000", "bash:5000")
	msgs[3].ToolCalls[0].Arguments = object("path", "a.go", "content", lines(2000))
	msgs[5].ToolCalls[0].Arguments = "no object " + lines(2000)
	pinned := results("bash:100", "bash:9000")
	pinned[4].Meta = abi.Meta{abi.MetaAlwaysKeep: []byte("true")}
	for _, tc := range []struct {
		why    string
		msgs   []abi.Message
		gone   []string
		limits strategies.Limits
		want   string
	}{
		{"results and arguments, in the current turn too", msgs, nil, strategies.Limits{Tokens: 1000}, "a1 r1 a2 r2"},
		{"what leaves anyway is not edited", msgs, []string{"a1", "r1"}, strategies.Limits{Tokens: 1000}, "a2 r2"},
		{"bytes count by themselves", msgs, nil, strategies.Limits{Bytes: 10_000}, "a1 r1 a2 r2"},
		{"the tighter limit counts", msgs, nil, strategies.Limits{Tokens: 8000, Bytes: 25_000}, "a1 r1 a2"},
		{"what is pinned stays", pinned, nil, strategies.Limits{Tokens: 1000}, ""},
		{"no limits, no edits", msgs, nil, strategies.Limits{}, ""},
	} {
		edits := strategies.Cap(whole(tc.msgs), tc.gone, tc.limits, count)
		if got := editsOf(edits); got != tc.want {
			t.Errorf("%s: edits %q, want %q", tc.why, got, tc.want)
		}
		for i, m := range edited(t, tc.msgs, edits, count) {
			if tc.gone == nil && !abi.Pinned(tc.msgs)[i] {
				checkCapped(t, &m, tc.limits, count)
			}
		}
	}
	edits := strategies.Cap(whole(msgs), nil, strategies.Limits{Tokens: 1000}, count)
	if a := edits[0].Text; !strings.HasPrefix(a, `{"path":"a.go","content":"line number`) || !strings.HasSuffix(a, `output\n"}`) || !strings.Contains(a, `\n[Pruned — `) {
		t.Errorf("arguments: %.60q ... %q", a, a[len(a)-40:])
	}
}

func checkCapped(t tester, m *abi.Message, limits strategies.Limits, counter abi.Counter) {
	t.Helper()
	within := func(what string, n, bytes int) {
		if limits.Tokens > 0 && n > limits.Tokens || limits.Bytes > 0 && bytes > limits.Bytes {
			t.Fatalf("%s of %s: %d tokens, %d bytes, allowed %+v", what, m.ID, n, bytes, limits)
		}
	}
	if m.Role == abi.RoleTool {
		within("result", counter.Message(m), strategies.Bytes(m))
	}
	for _, c := range m.ToolCalls {
		quoted, err := json.Marshal(c.Arguments)
		if err != nil {
			t.Fatalf("%v", err)
		}
		within("arguments", counter.Text(c.Arguments), len(quoted)-escapes(c.Arguments))
	}
}

// escapes is how much longer Go writes some characters than JSON asks for.
func escapes(s string) (n int) {
	for _, c := range []string{"<", ">", "&", "\u2028", "\u2029"} {
		n += (6 - len(c)) * strings.Count(s, c)
	}
	return n
}

// TestComplaint5Arguments: however arguments are made, they come within the
// limit, and an object stays one.
func TestComplaint5Arguments(t *testing.T) {
	many := []any{}
	for i := range 3000 {
		many = append(many, fmt.Sprint("key", i), i)
	}
	for _, tc := range []struct{ why, arguments, want string }{
		{"one long text", object("path", "a", "text", lines(1000)), `{"path":"a","text":"line`},
		{"several share the limit", object("a", lines(500), "b", lines(500), "c", lines(500)), `{"a":"line`},
		{"all in escapes", object("a", strings.Repeat("\"\\\n", 5000)), `{"a":"`},
		{"many small values: their keys cannot stay", object(many...), `{"key0":"[Pruned — `},
		{"a giant key", `{"` + strings.Repeat("k", 9000) + `":1}`, `{}`},
		{"a list", `["` + strings.Repeat("x", 9000) + `"]`, `"[\"xxx`},
		{"no JSON", lines(1000), "line number"},
	} {
		msgs := called(tc.arguments)
		limits := strategies.Limits{Tokens: 300}
		edits := strategies.Cap(whole(msgs), nil, limits, count)
		if len(edits) != 1 || !strings.HasPrefix(edits[0].Text, tc.want) {
			t.Errorf("%s: %.80q", tc.why, editsOf(edits))
			continue
		}
		if after := edited(t, msgs, edits, count); count.Text(after[1].ToolCalls[0].Arguments) > 300 {
			t.Errorf("%s: %d tokens", tc.why, count.Text(after[1].ToolCalls[0].Arguments))
		}
	}
}

// TestComplaint6Media: images go by reference where they are too much, in all
// forms that providers have, and text beside them stays.
func TestComplaint6Media(t *testing.T) {
	counter, err := tokens.New("", tokens.Options{})
	if err != nil {
		t.Fatal(err)
	}
	data := strings.Repeat("iVBORw0K", 20_000)
	for _, tc := range []struct{ why, typ, raw, want string }{
		{"Anthropic", "image", `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + data + `"}}`, "[image image/png, 120 KB]"},
		{"OpenAI", "image_url", `{"type":"image_url","image_url":{"url":"data:image/png;base64,` + data + `"}}`, "[image image/png, 120 KB]"},
		{"OpenAI Responses", "input_image", `{"type":"input_image","image_url":"data:image/jpeg;base64,` + data + `"}`, "[image image/jpeg, 120 KB]"},
		{"MCP", "image", `{"type":"image","mimeType":"image/webp","data":"` + data + `"}`, "[image image/webp, 120 KB]"},
		{"a document", "document", `{"type":"document","title":"a.pdf","source":{"media_type":"application/pdf","data":"` + data + `"}}`, "[document application/pdf a.pdf, 120 KB]"},
		{"sound", "input_audio", `{"type":"input_audio","input_audio":{"format":"wav","data":"` + data + `"}}`, "[audio, 120 KB]"},
		{"a small one inside a list", "image", `{"type":"image","sources":[{"mime_type":"image/gif","data":"` + data[:8000] + `"}]}`, "[image image/gif, 6 KB]"},
		{"one that is there in name", "image", `{"type":"image","source":{"url":"data:image/gif;base64,R0lGODlh"}}`, "[image image/gif, 6 bytes]"},
		{"a part of no known type", "blob", `{"type":"blob","bytes":"` + data + `"}`, "[data, 120 KB]"},
	} {
		msgs := results("bash:5", "bash:5")
		msgs[4].Content = abi.Parts(abi.TextPart("a screenshot"), abi.RawPart(tc.typ, json.RawMessage(tc.raw)), abi.TextPart("as asked"))
		counts := make([]int, len(msgs))
		for i := range msgs {
			counts[i] = counter.Message(&msgs[i])
		}
		v := strategies.NewView(msgs, counts, abi.Pinned(msgs), false)
		if edits := strategies.Cap(v, nil, strategies.Limits{Tokens: 100_000, Bytes: 10_000_000}, counter); len(edits) > 0 {
			t.Errorf("%s: within the limits, and edited", tc.why)
		}
		edits := strategies.Cap(v, nil, strategies.Limits{Bytes: min(100_000, strategies.Bytes(&msgs[4])-1)}, counter)
		want := "a screenshot\n" + tc.want + "\nas asked"
		if len(edits) != 1 || edits[0].Text != want {
			t.Errorf("%s: %+.200v, want %q", tc.why, edits, want)
			continue
		}
		edited(t, msgs, edits, counter)
	}
	small := results("bash:5", "bash:5")
	small[4].Content = abi.Parts(abi.TextPart(lines(300)), abi.RawPart("image_url", json.RawMessage(`{"type":"image_url","image_url":{"url":"https://example.com/a.png"}}`)), abi.RawPart("tool_reference", json.RawMessage(`{"type":"tool_reference","tool_name":"grep"}`)))
	edits := strategies.Cap(whole(small), nil, strategies.Limits{Tokens: 500}, count)
	want := "[image https://example.com/a.png]\n{\"type\":\"tool_reference\",\"tool_name\":\"grep\"}"
	if len(edits) != 1 || !strings.HasSuffix(edits[0].Text, want) {
		t.Errorf("an address: %.300v", edits)
	}
}

func TestComplaint5Properties(t *testing.T) {
	did := 0
	rapid.Check(t, func(t *rapid.T) {
		msgs := longCalls(t)
		limits := strategies.Limits{Tokens: rapid.SampledFrom([]int{0, 20, 50, 200}).Draw(t, "tokens"), Bytes: rapid.SampledFrom([]int{0, 300, 2000}).Draw(t, "bytes")}
		after := checkEdits(t, msgs, func(msgs []abi.Message) []abi.Edit { return strategies.Cap(whole(msgs), nil, limits, count) })
		pins := abi.Pinned(msgs)
		for i := range after {
			if count.Message(&after[i]) != count.Message(&msgs[i]) {
				did++
			}
			if !pins[i] {
				checkCapped(t, &after[i], limits, count)
			}
		}
	})
	if did == 0 {
		t.Error("nothing was ever cut: nothing was shown")
	}
}

// TestBytes: what a message adds to the body is the length of its JSON, give or
// take its frame.
func TestBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := abi.Message{Role: abi.RoleAssistant, Content: abi.Text(rapid.String().Draw(t, "text")),
			ToolCalls: []abi.ToolCall{{ID: "call_1", Name: "bash", Arguments: rapid.String().Draw(t, "arguments")}}}
		if rapid.Bool().Draw(t, "parts") {
			m.Content = abi.Parts(abi.TextPart(m.Text()), picture(3000))
		}
		body := sessiongen.JSONL([]abi.Message{m})
		// The neutral form has no "type" and "function" in a call. What Go
		// escapes beyond need is U+2028, U+2029 and DEL, and invalid UTF-8.
		if got := strategies.Bytes(&m); got < len(body)*9/10-20 || got > len(body)+60 {
			t.Fatalf("%d bytes, %d as JSON: %s", got, len(body), body)
		}
	})
}

// linearCounter counts bytes that were counted.
type linearCounter struct {
	sessiongen.Counter
	bytes *int
}

func (c linearCounter) Text(s string) int {
	*c.bytes += len(s)
	return c.Counter.Text(s)
}

// TestComplaint5Linear: a text of megabytes is not counted again and again.
func TestComplaint5Linear(t *testing.T) {
	text := lines(150_000)
	msgs := called(object("path", "a", "content", text))
	msgs[2].Content = abi.Text(text)
	counted := 0
	start := time.Now()
	edits := strategies.Cap(whole(msgs), nil, strategies.Limits{Tokens: 4000}, linearCounter{bytes: &counted})
	if len(edits) != 2 {
		t.Fatalf("%d edits", len(edits))
	}
	if most := 3 * len(text); counted > most {
		t.Errorf("%d bytes counted for two texts of %d", counted, len(text))
	}
	if d := time.Since(start); d > 10*time.Second {
		t.Errorf("%v for %d bytes", d, 2*len(text))
	}
}
