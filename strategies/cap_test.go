package strategies_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/sessiongen"
	"github.com/kagewasm/kagewasm/strategies"
	"github.com/kagewasm/kagewasm/tokens"
)

// picture is an image of n bytes as the Anthropic format has it.
func picture(n int) abi.Part {
	return abi.RawPart("image", json.RawMessage(
		`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"`+strings.Repeat("iVBORw0K", n/6)+`"}}`))
}

// TestCapCap: a giant in the protected tail or the current turn, as a
// result or as arguments, must not make every request fail.
func TestCapCap(t *testing.T) {
	features.Proves(t, "complaint 5")
	msgs := results("bash:100", "read:9000", "bash:5000")
	msgs[3].ToolCalls[0].Arguments = object("path", "a.go", "content", lines(2000))
	msgs[5].ToolCalls[0].Arguments = "no object " + lines(2000)
	pinned := results("bash:100", "bash:9000")
	pinned[4].Meta = abi.Meta{abi.MetaAlwaysKeep: []byte("true")}
	for _, tc := range []struct {
		why   string
		msgs  []abi.Message
		limit int
		want  string
	}{
		{"results and arguments, in the current turn too", msgs, 1000, "a1 r1 a2 r2"},
		{"what is under the limit stays", msgs, 8000, "a1 r1 a2"},
		{"what is pinned stays", pinned, 1000, ""},
		{"no limit, no edits", msgs, 0, ""},
	} {
		t.Run(tc.why, func(t *testing.T) {
			edits := strategies.Cap(whole(tc.msgs), tc.limit)
			if got := editsOf(edits); got != tc.want {
				t.Errorf("edits %q, want %q", got, tc.want)
			}
			for i, m := range edited(t, tc.msgs, edits, count) {
				if !abi.Pinned(tc.msgs)[i] {
					checkCapped(t, &m, tc.limit, count)
				}
			}
		})
	}
	edits := strategies.Cap(whole(msgs), 1000)
	if a := edits[0].Text; !strings.HasPrefix(a, `{"path":"a.go","content":"line number`) ||
		!strings.HasSuffix(a, `output\n"}`) || !strings.Contains(a, `\n[Pruned — `) {
		t.Errorf("arguments: %.60q ... %q", a, a[len(a)-40:])
	}
}

func checkCapped(t tester, m *abi.Message, limit int, counter abi.Counter) {
	t.Helper()
	within := func(what string, n int) {
		if limit > 0 && n > limit {
			t.Fatalf("%s of %s: %d tokens, allowed %d", what, m.ID, n, limit)
		}
	}
	if m.Role == abi.RoleTool {
		within("result", counter.Message(m))
	}
	for _, c := range m.ToolCalls {
		within("arguments", counter.Text(c.Arguments))
	}
}

// TestCapArguments: however arguments are made, they come within the
// limit, and an object stays one.
func TestCapArguments(t *testing.T) {
	features.Proves(t, "complaint 5")
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
		t.Run(tc.why, func(t *testing.T) {
			msgs := called(tc.arguments)
			edits := strategies.Cap(whole(msgs), 300)
			if len(edits) != 1 || !strings.HasPrefix(edits[0].Text, tc.want) {
				t.Errorf("%.80q", editsOf(edits))
				return
			}
			if after := edited(t, msgs, edits, count); count.Text(after[1].ToolCalls[0].Arguments) > 300 {
				t.Errorf("%d tokens", count.Text(after[1].ToolCalls[0].Arguments))
			}
		})
	}
}

// TestMedia: images go by reference where they are too much, in all
// forms that providers have, and text beside them stays.
func TestMedia(t *testing.T) {
	features.Proves(t, "complaint 6")
	counter, err := tokens.New("", tokens.Options{})
	if err != nil {
		t.Fatal(err)
	}
	data := strings.Repeat("iVBORw0K", 20_000)
	for _, tc := range []struct{ why, typ, raw, want string }{
		{"Anthropic", "image", `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + data +
			`"}}`, "[image image/png, 120 KB]"},
		{"OpenAI", "image_url", `{"type":"image_url","image_url":{"url":"data:image/png;base64,` + data + `"}}`,
			"[image image/png, 120 KB]"},
		{"OpenAI Responses", "input_image", `{"type":"input_image","image_url":"data:image/jpeg;base64,` + data + `"}`,
			"[image image/jpeg, 120 KB]"},
		{"MCP", "image", `{"type":"image","mimeType":"image/webp","data":"` + data + `"}`, "[image image/webp, 120 KB]"},
		{"a document", "document", `{"type":"document","title":"a.pdf","source":{"media_type":"application/pdf",` +
			`"data":"` + data + `"}}`, "[document application/pdf a.pdf, 120 KB]"},
		{"sound", "input_audio", `{"type":"input_audio","input_audio":{"format":"wav","data":"` + data + `"}}`,
			"[audio, 120 KB]"},
		{"a small one inside a list", "image", `{"type":"image","sources":[{"mime_type":"image/gif","data":"` +
			data[:8000] + `"}]}`, "[image image/gif, 6 KB]"},
		{"one that is there in name", "image", `{"type":"image","source":{"url":"data:image/gif;base64,R0lGODlh"}}`,
			"[image image/gif, 6 bytes]"},
		{"a part of no known type", "blob", `{"type":"blob","bytes":"` + data + `"}`, "[data, 120 KB]"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			msgs := results("bash:5", "bash:5")
			msgs[4].Content = abi.Parts(abi.TextPart("a screenshot"), abi.RawPart(tc.typ, json.RawMessage(tc.raw)),
				abi.TextPart("as asked"))
			counts := make([]int, len(msgs))
			for i := range msgs {
				counts[i] = counter.Message(&msgs[i])
			}
			v := strategies.NewView(strategies.NewList(msgs, counts, abi.Pinned(msgs), 0), strategies.Limits{}, counter)
			if edits := strategies.Cap(v, counts[4]); len(edits) > 0 {
				t.Errorf("%s: within the limit, and edited", tc.why)
			}
			edits := strategies.Cap(v, counts[4]-1)
			want := "a screenshot\n" + tc.want + "\nas asked"
			if len(edits) != 1 || edits[0].Text != want {
				t.Errorf("%+.200v, want %q", edits, want)
				return
			}
			edited(t, msgs, edits, counter)
		})
	}
	small := results("bash:5", "bash:5")
	small[4].Content = abi.Parts(abi.TextPart(lines(300)),
		abi.RawPart("image_url", json.RawMessage(
			`{"type":"image_url","image_url":{"url":"https://example.com/a.png"}}`)), abi.RawPart("tool_reference",
			json.RawMessage(`{"type":"tool_reference","tool_name":"grep"}`)))
	edits := strategies.Cap(whole(small), 500)
	want := "[image https://example.com/a.png]\n{\"type\":\"tool_reference\",\"tool_name\":\"grep\"}"
	if len(edits) != 1 || !strings.HasSuffix(edits[0].Text, want) {
		t.Errorf("an address: %.300v", edits)
	}
}

func TestCapProperties(t *testing.T) {
	features.Proves(t, "complaint 5")
	did := 0
	rapid.Check(t, func(t *rapid.T) {
		msgs := longCalls(t)
		limit := rapid.SampledFrom([]int{0, 20, 50, 200}).Draw(t, "tokens")
		after := checkEdits(t, msgs, func(msgs []abi.Message) []abi.Edit { return strategies.Cap(whole(msgs), limit) })
		pins := abi.Pinned(msgs)
		for i := range after {
			if count.Message(&after[i]) != count.Message(&msgs[i]) {
				did++
			}
			if !pins[i] {
				checkCapped(t, &after[i], limit, count)
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

// TestCapLinear: a text of megabytes is not counted again and again.
func TestCapLinear(t *testing.T) {
	features.Proves(t, "complaint 5")
	text := lines(150_000)
	msgs := called(object("path", "a", "content", text))
	msgs[2].Content = abi.Text(text)
	counted := 0
	start := time.Now()
	v := whole(msgs)
	v.Count = linearCounter{bytes: &counted}
	edits := strategies.Cap(v, 4000)
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
