package transcript_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/wirecheck"
	"github.com/kagewasm/kagewasm/transcript"
)

// What a message says, where the format says it in a way of its own.
func TestContentsOfProviders(t *testing.T) {
	for _, c := range []struct {
		why, data string
		index     int
		want      string // the content as JSON
	}{
		{"a response under one key is its text",
			`{"contents":[{"parts":[{"functionResponse":{"name":"f","response":{"result":"a\nb"}}}]}]}`, 0, `"a\nb"`},
		{"any other is JSON",
			`{"contents":[{"parts":[{"functionResponse":{"name":"f","response":{"n": 1, "s":"x"}}}]}]}`, 0,
			`"{\"n\":1,\"s\":\"x\"}"`},
		{"a thought is thinking", `{"contents":[{"role":"model","parts":[{"text":"hm","thought":true},{"text":"yes"}]}]}`, 0,
			`[{"type":"thinking","thinking":"hm"},{"type":"text","text":"yes"}]`},
		{"media by reference keeps its place",
			`{"contents":[{"parts":[{"fileData":{"fileUri":"gs://b/o","mimeType":"video/mp4"}}]}]}`, 0,
			`[{"type":"fileData","fileData":{"fileUri":"gs://b/o","mimeType":"video/mp4"}}]`},
		{"input and output texts are texts",
			`{"input":[{"role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_file",` +
				`"file_id":"f"}]}]}`, 0,
			`[{"type":"text","text":"a"},{"type":"input_file","file_id":"f"}]`},
		{"what the server alone can read is carried along", `{"input":[{"type":"compaction","encrypted_content":"x"}]}`, 0,
			`[{"type":"compaction","encrypted_content":"x"}]`},
		{"the server's summary is text",
			`{"messages":[{"role":"assistant","content":[{"type":"compaction","content":"so far"}]}]}`, 0, `"so far"`},
		{"the server's tools are parts",
			`{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"server_tool_use",` +
				`"id":"s","name":"n","input":{}},{"type":"text","text":"y"}]}]}`, 1,
			`[{"type":"server_tool_use","id":"s","name":"n","input":{}},{"type":"text","text":"y"}]`},
	} {
		t.Run(c.why, func(t *testing.T) {
			s := read(t, []byte(c.data), transcript.Auto)
			if got, err := json.Marshal(s.Messages[c.index].Content); err != nil || string(got) != c.want {
				t.Errorf("%s:\n got %s (%v)\nwant %s", c.why, got, err, c.want)
			}
		})
	}
}

// A recording that changed is written as the body to send next: the answer is
// the last of its messages.
func TestRecordingBecomesBody(t *testing.T) {
	for format, want := range map[transcript.Format]string{
		anthropic: `{"model": "claude-x", "max_tokens": 10, "messages": [{"role": "user", "content": "look"},
     {"role":"user","content":"so far"},
     {"role":"assistant","content":[` +
			`{"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "cat"}}, ` +
			`{"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}, ` +
			`{"type": "text", "text": "A cat."}]}], "system": "Be brief."}`,
		responses: `{"model": "gpt-x", "input": [{"role": "user", "content": "look"},{"role":"user","content":"so far"},` +
			`{"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"},` +
			`{"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "look", "arguments": ` +
			`"{\"at\":1}", "status": "completed"}], "stream": false}`,
		gemini: `{"contents": [{"parts": [{"text": "look"}], "role": "user"},{"role":"user","parts":[{"text":"so far"}]},` +
			`{"parts": [{"functionCall": {"name": "look", "args": {}}, "thoughtSignature": "c2ln"}], "role": ` +
			`"model"}], "system_instruction": {"parts": {"text": "Be brief."}}}`,
		openAI: `{"model": "gpt-x", "messages": [{"role": "user", "content": "look"},{"role":"user","content":"so far"},` +
			`{"role": "assistant", "content": null, "tool_calls": [{"id": "call_1", "type": "function", ` +
			`"function": {"name": "look", "arguments": "{}"}}], "refusal": null}]}`,
	} {
		t.Run(string(format), func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join("testdata", string(format), "recording.json"))
			if err != nil {
				t.Fatal(err)
			}
			s := read(t, data, transcript.Auto)
			first := slices.IndexFunc(s.Messages, func(m abi.Message) bool { return m.Role == abi.RoleUser }) + 1
			list := append(slices.Clone(s.Messages[:first]), summary, s.Messages[len(s.Messages)-1])
			if got := encode(t, s, list, transcript.Same); string(got) != want {
				t.Errorf("%s:\n got %s\nwant %s", format, got, want)
			}
		})
	}
}

var summary = abi.Message{ID: "k1", Role: abi.RoleUser, Kind: abi.KindSummary, Content: abi.Text("so far")}

// with puts the summary before the message of an id.
func with(s *transcript.Session, id string) []abi.Message {
	at := slices.IndexFunc(s.Messages, func(m abi.Message) bool { return m.ID == id })
	return slices.Insert(slices.Clone(s.Messages), at, summary)
}

// A new message never comes between calls and their results, even where these
// share a message with the words that follow.
func TestResultsAndWordsPart(t *testing.T) {
	for _, c := range []struct {
		format     transcript.Format
		id         string
		one, other string
		check      func([]byte) []string
	}{
		{anthropic, "m00006", `"data": "AAAA"}}]}`, `{"type": "text", "text": "Go on, please."}`, wirecheck.Anthropic},
		{gemini, "m00006", `{"result": "a cat"}}}`, `{"text": "Go on, please."}`, wirecheck.Gemini},
	} {
		t.Run(string(c.format), func(t *testing.T) {
			s := read(t, fixtureOf(t, c.format, "body.json"), transcript.Auto)
			out := encode(t, s, with(s, c.id), transcript.Same)
			one, sum := bytes.Index(out, []byte(c.one)), bytes.Index(out, []byte("so far"))
			other := bytes.Index(out, []byte(c.other))
			if one < 0 || sum < one || other < sum {
				t.Errorf("%s: at %d, %d, %d:\n%s", c.format, one, sum, other, out)
			}
			if faults := c.check(out); len(faults) > 0 {
				t.Errorf("%s: %q\n%s", c.format, faults, out)
			}
		})
	}
}

func fixtureOf(t *testing.T, f transcript.Format, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", string(f), name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// The model sees nothing from before a compaction that the server made. A new
// summary before it would not be seen, so the block becomes text then.
func TestServerCompactionHidesNothingNew(t *testing.T) {
	s := read(t, fixtureOf(t, anthropic, "compacted.json"), transcript.Auto)
	for _, c := range []struct {
		why, before string
		blocks      int // that are left
	}{
		{"before both", "m00001", 0},
		{"between them", "m00004", 1},
	} {
		t.Run(c.why, func(t *testing.T) {
			out := encode(t, s, with(s, c.before), transcript.Same)
			if n := bytes.Count(out, []byte(`"type": "compaction"`)); n != c.blocks {
				t.Errorf("%s: %d compaction blocks, want %d\n%s", c.why, n, c.blocks, out)
			}
			if !bytes.Contains(out, []byte("The user told a story.")) {
				t.Errorf("%s: the old summary is gone\n%s", c.why, out)
			}
			if faults := wirecheck.Anthropic(out); len(faults) > 0 {
				t.Errorf("%s: %q", c.why, faults)
			}
		})
	}
	// Where nothing comes before them they stay.
	out := encode(t, s, s.Messages[1:], transcript.Same)
	if n := bytes.Count(out, []byte(`"type": "compaction"`)); n != 2 || bytes.Contains(out, []byte(`"system"`)) {
		t.Errorf("%d blocks\n%s", n, out)
	}
}

// Where a signature covers an answer its calls keep their bytes, whatever a
// compaction makes of their arguments.
func TestSignedAnswersStay(t *testing.T) {
	const claude = `{"messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"x",` +
		`"signature":"SIG"},{"type":"tool_use","id":"a","name":"f","input":{"p":1}}]}]}`
	const gemini = `{"contents":[{"role":"model","parts":[{"functionCall":{"name":"f","args":{"p":1}},` +
		`"thoughtSignature":"SIG"},{"functionCall":{"name":"g","args":{"p":2}}}]}]}`
	for _, c := range []struct {
		why, data string
		stays     bool
	}{
		{"signed thinking", claude, true},
		{"thinking that nobody signed", strings.ReplaceAll(claude, "SIG", ""), false},
		{"redacted thinking", strings.Replace(claude, `{"type":"thinking","thinking":"x","signature":"SIG"}`,
			`{"type":"redacted_thinking","data":"x"}`, 1), true},
		{"a signed call", gemini, true},
		{"the stand-in for a signature", strings.Replace(gemini, `"thoughtSignature":"SIG"`, otherSigner, 1), false},
		{"no signature", strings.Replace(gemini, `,"thoughtSignature":"SIG"`, "", 1), false},
	} {
		t.Run(c.why, func(t *testing.T) {
			s := read(t, []byte(c.data), transcript.Auto)
			for i := range s.Messages[0].ToolCalls {
				s.Messages[0].ToolCalls[i].Arguments = `{"pruned":true}`
			}
			if out := encode(t, s, s.Messages, transcript.Same); (string(out) == c.data) != c.stays {
				t.Errorf("%s: %s", c.why, out)
			}
		})
	}
}

// Tool definitions are translated, and a provider's own tools stay with it.
func TestToolsAreTranslated(t *testing.T) {
	s := read(t, fixtureOf(t, anthropic, "body.json"), transcript.Auto)
	const schema = `{"type":"object","properties":{"at":{"type":"integer"}}}`
	for to, want := range map[transcript.Format]string{
		openAI:    `[{"type":"function","function":{"name":"look","description":"Looks.","parameters":` + schema + `}}]`,
		responses: `[{"type":"function","name":"look","description":"Looks.","parameters":` + schema + `}]`,
		gemini: `[{"functionDeclarations":[{"name":"look","description":"Looks.","parametersJsonSchema":` +
			schema + `}]}]`,
	} {
		t.Run(string(to), func(t *testing.T) {
			again := read(t, encode(t, s, s.Messages, to), to)
			var got bytes.Buffer
			if err := json.Compact(&got, again.Tools); err != nil || got.String() != want {
				t.Errorf("%s: %v\n got %s\nwant %s", to, err, got.String(), want)
			}
			back := read(t, encode(t, again, again.Messages, anthropic), anthropic)
			got.Reset()
			if err := json.Compact(&got,
				back.Tools); err != nil || got.String() != `[{"name":"look","description":"Looks.","input_schema":`+schema+`}]` {
				t.Errorf("%s and back: %s", to, got.String())
			}
		})
	}
	// Through the neutral form nothing of them is lost.
	n := read(t, encode(t, s, s.Messages, transcript.Neutral), transcript.Neutral)
	if out := encode(t, n, n.Messages, anthropic); !bytes.Contains(out, []byte(`"web_search_20250305"`)) {
		t.Errorf("the server's tool is gone:\n%s", out)
	}
}
