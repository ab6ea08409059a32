package tokens_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/tokens"
)

// The example of OpenAI's cookbook, whose counts were compared with what the
// API bills.
var cookbook = []abi.Message{
	{Role: abi.RoleSystem, Content: abi.Text(
		"You are a helpful, pattern-following assistant that translates corporate jargon into plain English.")},
	{Role: abi.RoleSystem, Name: "example_user", Content: abi.Text("New synergies will help drive top-line growth.")},
	{Role: abi.RoleSystem, Name: "example_assistant",
		Content: abi.Text("Things working well together will increase revenue.")},
	{Role: abi.RoleSystem, Name: "example_user",
		Content: abi.Text("Let's circle back when we have more bandwidth to touch base on opportunities for " +
			"increased leverage.")},
	{Role: abi.RoleSystem, Name: "example_assistant",
		Content: abi.Text("Let's talk later when we're less busy about how to do better.")},
	{Role: abi.RoleUser, Content: abi.Text(
		"This late pivot means we don't have time to boil the ocean for the client deliverable.")},
}

// sum is what messages count together.
func sum(c *tokens.Counter, msgs []abi.Message) (n int) {
	for i := range msgs {
		n += c.Message(&msgs[i])
	}
	return n
}

// TestRequestIsTheCookbooks: what the cookbook's request counts beyond its
// messages are the three tokens that open the answer.
func TestRequestIsTheCookbooks(t *testing.T) {
	features.Proves(t, "K18")
	for e, want := range map[tokens.Encoding]int{tokens.CL100k: 129, tokens.O200k: 124} {
		t.Run(string(e), func(t *testing.T) {
			if got := sum(counter(t, e, uncached), cookbook) + 3; got != want {
				t.Errorf("%s: %d tokens, want %d", e, got, want)
			}
		})
	}
}

func TestTools(t *testing.T) {
	c := counter(t, tokens.O200k, uncached)
	got, err := c.Tools(t.Context(), json.RawMessage("[ {\"name\": \"read\",\n  \"parameters\": {}} ]"))
	if err != nil {
		t.Fatal(err)
	}
	if want := tokens.ToolsTokens + c.Text(`[{"name":"read","parameters":{}}]`); got.Tokens != want {
		t.Errorf("tools count %d, want %d: white space costs nothing", got.Tokens, want)
	}
	if got.Exact {
		t.Error("tool definitions are an estimate, and the count says it is exact")
	}
}

func TestToolsNone(t *testing.T) {
	c := counter(t, tokens.O200k, uncached)
	for _, doc := range []string{"", "null", "[]", " [ ] "} {
		t.Run(fmt.Sprintf("%q", doc), func(t *testing.T) {
			if n, err := c.Tools(t.Context(), json.RawMessage(doc)); err != nil || n != (tokens.Count{Exact: true}) {
				t.Errorf("%q: %+v, %v, want nothing", doc, n, err)
			}
		})
	}
}

func TestMessage(t *testing.T) {
	c := counter(t, tokens.O200k, uncached)
	data := strings.Repeat("QUJDREVG", 30_000) // 240,000 characters
	args := `{"path":"main.go"}`
	for _, tc := range []struct {
		why   string
		m     abi.Message
		want  int
		exact bool
	}{
		{"an empty message is its frame", abi.Message{Role: abi.RoleUser}, tokens.MessageTokens, true},
		{"the role and the ids cost nothing more", abi.Message{ID: "a-very-long-id-0123456789", Role: abi.RoleTool,
			ToolCallID: "toolu_0123456789abcdef", Content: abi.Text("ok")}, tokens.MessageTokens + c.Text("ok"), true},
		{"a name", abi.Message{Role: abi.RoleUser, Name: "ann", Content: abi.Text("ok")},
			tokens.MessageTokens + tokens.NameTokens + c.Text("ann") + c.Text("ok"), true},
		{"tool calls with their arguments", abi.Message{Role: abi.RoleAssistant, ToolCalls: []abi.ToolCall{
			{ID: "1", Name: "read", Arguments: args}, {ID: "2", Name: "ls"}}},
			tokens.MessageTokens + 2*tokens.ToolCallTokens + c.Text("read") + c.Text(args) + c.Text("ls"), true},
		{"parts of text", parts(`[{"type":"text","text":"one","cache_control":{"type":"ephemeral"}},{"type":"input_text",` +
			`"text":"two"}]`),
			tokens.MessageTokens + c.Text("one") + c.Text("two"), true},
		{"an image is a fixed estimate", parts(`[{"type":"image","source":{"type":"base64","data":"` + data + `"}}]`),
			tokens.MessageTokens + tokens.ImageTokens, false},
		{"an image by its address, too", parts(`[{"type":"image_url","image_url":{"url":"https://example.com/a.png"}}]`),
			tokens.MessageTokens + tokens.ImageTokens, false},
		{"thinking is its JSON", parts(`[{"type":"thinking", "thinking":"let me see"}]`),
			tokens.MessageTokens + c.Text(`{"type":"thinking","thinking":"let me see"}`), true},
		{"a document is estimated by its size",
			parts(`[{"type":"document","source":{"type":"base64","data":"` + data + `"},"title":"x"}]`),
			tokens.MessageTokens + c.Text(`{"type":"document","source":{"type":"base64","data":""},"title":"x"}`) +
				len(data)/24, false},
		{"a data URL, too", parts(`[{"type":"file","file":{"file_data":"data:application/pdf;base64,` + data + `"}}]`),
			tokens.MessageTokens + c.Text(`{"type":"file","file":{"file_data":""}}`) + len(data)/24, false},
		{"an image inside another part", parts(`[{"type":"tool_result","content":[{"type":"image","data":"iVBORw0KGgo` +
			data + `"}]}]`),
			tokens.MessageTokens + c.Text(`{"type":"tool_result","content":[{"type":"image","data":""}]}`) +
				tokens.ImageTokens, false},
		{"an image's data URL inside another part", parts(`[{"type":"x","u":"data:image/png;base64,` + data + `"}]`),
			tokens.MessageTokens + c.Text(`{"type":"x","u":""}`) + tokens.ImageTokens, false},
		{"long text that is no base64 is text",
			parts(`[{"type":"thinking","thinking":"` + strings.Repeat("well then, ", 200) + `"}]`),
			tokens.MessageTokens + c.Text(`{"type":"thinking","thinking":"`+strings.Repeat("well then, ", 200)+`"}`), true},
	} {
		t.Run(tc.why, func(t *testing.T) {
			got, err := c.MeasureMessage(t.Context(), &tc.m)
			if err != nil {
				t.Fatal(err)
			}
			if got.Tokens != tc.want || got.Exact != tc.exact {
				t.Errorf("%+v, want %d, exact %v", got, tc.want, tc.exact)
			}
		})
	}
}

func parts(doc string) abi.Message {
	m := abi.Message{Role: abi.RoleUser}
	if err := json.Unmarshal([]byte(doc), &m.Content); err != nil {
		panic(err)
	}
	return m
}

// A part's raw JSON may be anything at all, even none.
func FuzzPart(f *testing.F) {
	f.Add("document", `{"type":"document","data":"`+strings.Repeat("A", 2000)+`"}`)
	f.Add("x", `{"a":"\`)
	f.Add("x", `"`)
	f.Add("x", `"data:;base64,`+strings.Repeat("A", 2000))
	c, err := tokens.New(tokens.O200k, tokens.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, typ, raw string) {
		m := abi.Message{Role: abi.RoleUser, Content: abi.Parts(abi.RawPart(typ, json.RawMessage(raw)))}
		if n := c.Message(&m); n < tokens.MessageTokens || n > tokens.MessageTokens+tokens.ImageTokens+3*len(raw)+
			len(raw)*tokens.ImageTokens/1024 {
			t.Fatalf("%d tokens for %d bytes", n, len(raw))
		}
	})
}
