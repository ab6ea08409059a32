package transcript_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/transcript"
)

// ollamaChat is a request of Ollama's own API.
const ollamaChat = `{"model":"qwen3","messages":[
 {"role":"system","content":"Be brief."},
 {"role":"user","content":"What is this?","images":["iVBORw0KGgo="]},
 {"role":"assistant","content":"","thinking":"I look.","tool_calls":[{"function":{"name":"look","arguments":{"at": 1}}},
  {"function":{"name":"note","arguments":{"text":"x"}}},{"function":{"name":"look","arguments":{"at":2}}}]},
 {"role":"tool","tool_name":"look","content":"a cat"},
 {"role":"tool","content":"noted"},
 {"role":"tool","content":"a dog"},
 {"role":"assistant","content":"","tool_calls":[{"id":"call_9","function":{"index":0,"name":"look","arguments":{}}}]},
 {"role":"tool","tool_name":"look","tool_call_id":"call_9","content":"nothing"}
],"options":{"num_ctx":20000},"stream":true}`

// TestOllama: a chat of Ollama's own API is read as its calls and results belong together, with ids or without, and its
// images count; written again it is as it came but for what changed, and arguments stay objects.
func TestOllama(t *testing.T) {
	features.Proves(t, "N4")
	s, err := transcript.Read("chat", []byte(ollamaChat), openAI)
	if err != nil {
		t.Fatal(err)
	}
	if same, err := s.Encode(s.Messages, transcript.Same); err != nil || string(same) != ollamaChat {
		t.Errorf("%v: written as %s", err, same)
	}
	units, of := abi.Units(s.Messages)
	if len(units) != 4 || !slices.Equal(units[2], abi.Unit{2, 3, 4, 5}) || of[7] != of[6] {
		t.Errorf("units %v", units)
	}
	for i, name := range map[int]string{3: "function:look", 4: "function:note", 5: "function:look#2", 7: "call_9"} {
		if got := s.Messages[i].ToolCallID; got != name {
			t.Errorf("message %d answers %q, want %q", i, got, name)
		}
	}
	if u := s.Messages[1]; u.Text() != "What is this?" || len(u.Content.Parts()) != 2 ||
		u.Content.Parts()[1].Type != "image_url" {
		t.Errorf("an image: %+v", u.Content)
	}
	if s.Messages[2].ToolCalls[0].Arguments != `{"at":1}` {
		t.Errorf("arguments %s", s.Messages[2].ToolCalls[0].Arguments)
	}

	list := slices.Clone(s.Messages)
	list[2].ToolCalls = slices.Clone(list[2].ToolCalls)
	list[2].ToolCalls[1].Arguments = `{"text":"…"}`
	list[4].Content = abi.Text("…")
	list = slices.Insert(list, 2, abi.Message{ID: "new", Role: abi.RoleUser, Content: abi.Text("A note.")})
	got, err := s.Encode(list, transcript.Same)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(ollamaChat, `{"text":"x"}`, `{"text":"…"}`, 1)
	want = strings.Replace(want, `"noted"`, `"…"`, 1)
	note := []byte(`{"role":"user","content":"A note."}`)
	if !bytes.Contains(got, note) {
		t.Fatalf("written as %s", got)
	}
	at := bytes.Index(got, note)
	rest := squeezed(string(got[:at])) + strings.TrimPrefix(squeezed(string(got[at+len(note):])), ",")
	if rest != squeezed(want) {
		t.Errorf("written as %s\nwant %s", got, want)
	}
}

// TestOllamaResultsByOrder: a result whose tool_name is not that of a call that waits for one belongs to the first call
// that does; one that names a call by its tool belongs to that, whether calls have ids or not.
func TestOllamaResultsByOrder(t *testing.T) {
	features.Proves(t, "N4")
	calls := func(list ...string) string {
		return `{"role":"assistant","content":"","tool_calls":[` + strings.Join(list, ",") + `]}`
	}
	named := func(tool string) string { return `{"function":{"name":"` + tool + `","arguments":{}}}` }
	withID := func(id, tool string) string {
		return `{"id":"` + id + `","function":{"name":"` + tool + `","arguments":{}}}`
	}
	result := func(tool string) string { return `{"role":"tool","tool_name":"` + tool + `","content":"done"}` }
	for why, tc := range map[string]struct {
		list []string
		want []string // call ids of the results
	}{
		"one call": {[]string{calls(named("look")), result("x")}, []string{"function:look"}},
		"two of other tools": {[]string{calls(named("look"), named("note")), result("x"), result("x")},
			[]string{"function:look", "function:note"}},
		"one that fits": {[]string{calls(named("look"), named("note")), result("note"), result("x")},
			[]string{"function:note", "function:look"}},
		"calls with ids": {[]string{calls(withID("c1", "look"), withID("c2", "note")), result("note"), result("x")},
			[]string{"c2", "c1"}},
		"two of one tool with ids": {[]string{calls(withID("c1", "look"), withID("c2", "look")), result("look"),
			result("look")}, []string{"c1", "c2"}},
		"no call waits": {[]string{calls(named("look")), result("look"), result("x")},
			[]string{"function:look", "function:x"}},
	} {
		s, err := transcript.Read("chat", []byte(`{"messages":[`+strings.Join(tc.list, ",")+`]}`), openAI)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range s.Messages {
			if m.Role == abi.RoleTool {
				got = append(got, m.ToolCallID)
			}
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: results of %q, want %q", why, got, tc.want)
		}
	}
}

func squeezed(s string) string { return strings.Join(strings.Fields(s), "") }

// TestOllamaImagesAreData: an address or the name of a file is no image in base 64, and is left as it is.
func TestOllamaImagesAreData(t *testing.T) {
	features.Proves(t, "N4")
	in := `{"model":"qwen3","messages":[{"role":"user","content":"Look.",
 "images":["https://x.example/a.png","b.jpg","/9j/4AA="]}]}`
	s, err := transcript.Read("chat", []byte(in), openAI)
	if err != nil {
		t.Fatal(err)
	}
	if parts := s.Messages[0].Content.Parts(); len(parts) != 2 || parts[1].Type != "image_url" {
		t.Errorf("%d parts: %+v", len(parts), s.Messages[0].Content)
	}
	if same, err := s.Encode(s.Messages, transcript.Same); err != nil || string(same) != in {
		t.Errorf("%v: written as %s", err, same)
	}
}
