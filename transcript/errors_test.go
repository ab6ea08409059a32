package transcript_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/transcript"
)

// Every refusal says which file, where in it, and what to do.
func TestBadInput(t *testing.T) {
	const ok = `{"id":"a","role":"user","content":"x"}` + "\n"
	const claude = `{"type":"user","uuid":"u","message":{"role":"user","content":"x"}}` + "\n"
	const rollout = `{"timestamp":"t","type":"event_msg","payload":{"type":"task_started"}}` + "\n"
	const session = `{"type":"session","version":3,"id":"s"}` + "\n"
	deep := strings.Repeat("[", 80) + strings.Repeat("]", 80)
	for _, c := range []struct {
		why, data string
		format    transcript.Format
		at        string // where
	}{
		{"an empty file", "", "auto", ""},
		{"white space alone", "\ufeff \r\n\n", "neutral", ""},
		{"a list of no messages", `{"messages":[]}`, "auto", "line 1, column 1"},
		{"tools alone", `{"tools":[]}`, "auto", "line 1, column 1"},
		{"a last line that was cut off", ok + `{"id":"b","role":"us`, "auto", "line 2, column 21"},
		{"a file that was cut off in its first line", `{"id":"b","role":"us`, "auto", "line 1, column 21"},
		{"a document that was cut off", "{\n \"messages\": [\n  {\"role\": \"user\"", "auto", "line 3, column 18"},
		{"a broken first line", `{"id":,}` + "\n" + ok, "auto", "line 1, column 7"},
		{"a broken line in the middle", ok + "{'id':1}\n" + ok, "auto", "line 2, column 2"},
		{"bytes that are not UTF-8", ok + "{\"role\":\"user\",\"content\":\"\xff\"}", "auto", "line 2, column 27"},
		{"NUL bytes, as a crash leaves them", ok + "\x00\x00\x00\n", "auto", "line 2, column 1"},
		{"a NUL byte in a string", ok + "{\"role\":\"user\",\"content\":\"\x00\"}", "auto", "line 2, column 27"},
		{"columns count characters", "{\"role\":\"user\",\"content\":\"é\x00\"}", "neutral", "line 1, column 28"},
		{"the same key twice", `{"id":"a","role":"user","id":"b"}`, "auto", "line 1, column 29"},
		{"the same key twice, escaped once", `{"id":"a","role":"user","\u0069d":"b"}`, "auto", "line 1, column 34"},
		{"a key in another case", `{"id":"a","ID":"EVIL","role":"user"}`, "auto", "line 1, column 16"},
		{"a key that folds to another", `{"role":"user","ſcale":1,"Kind":"x"}`, "auto", "line 1, column 33"},
		{"nesting without end", `{"role":"user","x":` + deep + `}`, "auto", "line 1, column 83"},
		{"two documents on a line", ok[:len(ok)-1] + ok, "auto", "line 1, column 39"},
		{"no role", ok + `{"id":"b","content":"x"}`, "neutral", "line 2, column 1"},
		{"a role that is none", ok + `{"id":"b","role":"tools"}`, "neutral", "line 2, column 18"},
		{"a role that is no string", ok + `{"role":1}`, "neutral", "line 2, column 9"},
		{"an id that is no string", `{"role":"user","id":7}`, "neutral", "line 1, column 21"},
		{"content of another kind", `{"role":"user","content":{"text":"x"}}`, "neutral", "line 1, column 26"},
		{"a part that is no part", `{"role":"user","content":[1]}`, "neutral", "line 1, column 27"},
		{"a part whose type is no string", `{"role":"user","content":[{"type":1}]}`, "neutral", "line 1, column 27"},
		{"a part's key in another case", `{"role":"user","content":[{"type":"text","Text":"x"}]}`, "neutral",
			"line 1, column 49"},
		{"tool calls that are no list", `{"role":"assistant","tool_calls":{}}`, "neutral", "line 1, column 34"},
		{"a tool call that is none", `{"role":"assistant","tool_calls":["x"]}`, "neutral", "line 1, column 35"},
		{"chat calls where neutral ones belong",
			`{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f"}}]}`, "neutral", "line 1, column 35"},
		{"meta that is no object", `{"role":"user","meta":[]}`, "neutral", "line 1, column 23"},
		{"is_error that is no boolean", `{"role":"tool","is_error":"no"}`, "neutral", "line 1, column 27"},
		{"a line that is no object", ok + "[]", "neutral", "line 2, column 1"},
		{"tools after the first line", ok + `{"tools":[]}`, "neutral", "line 2, column 1"},
		{"no format at all", `{"type":"session","version":3}` + "\n" + `{"type":"message"}`, "auto", "line 1, column 1"},
		{"a bare value", `42`, "auto", "line 1, column 1"},
		{"a list of something else", `[{"method":"POST"}]`, "auto", "line 1, column 1"},
		{"a document of something else", `{"messages":[{"type":"user"}]}`, "auto", "line 1, column 1"},
		{"chat: no list", `{"choices":[]}`, "openai", "line 1, column 1"},
		{"chat: no role", "[\n {\"content\":\"x\"}]", "openai", "line 2, column 2"},
		{"chat: a message that is none", `["x"]`, "openai", "line 1, column 2"},
		{"chat: a call without a function", `[{"role":"assistant","tool_calls":[{"id":"c"}]}]`, "openai",
			"line 1, column 36"},
		{"chat: text after the list", `[{"role":"user"}]` + "\nx", "openai", "line 2, column 1"},
		{"chat: text after the document", `{"messages":[{"role":"user"}]}` + "\n{}", "openai", "line 2, column 1"},
		{"log: no message", claude + `{"type":"assistant","uuid":"v"}`, "auto", "line 2, column 1"},
		{"log: a block that is none", claude + `{"type":"user","message":{"content":["x"]}}`, "auto", "line 2, column 38"},
		{"log: a uuid that is no string", claude + `{"type":"progress","uuid":1}`, "auto", "line 2, column 27"},
		{"log: a key in another case", claude + `{"type":"user","UUID":"x","message":{"content":"x"}}`, "auto",
			"line 2, column 23"},
		{"messages: a role of chat completions",
			`{"system":"x","messages":[{"role":"user","content":"x"},{"role":"system","content":"y"}]}`, "anthropic",
			"line 1, column 57"},
		{"messages: no list", `{"system":"x"}`, "anthropic", "line 1, column 1"},
		{"messages: a block that is none", `{"system":"x","messages":[{"role":"user","content":[1]}]}`, "auto",
			"line 1, column 53"},
		{"messages: a key in another case", `{"system":"x","messages":[{"role":"user","Content":"x"}]}`, "auto",
			"line 1, column 52"},
		{"messages: a block's key in another case", `[{"role":"assistant","content":[{"type":"tool_use","ID":"x"}]}]`,
			"auto", "line 1, column 57"},
		{"messages: text after the document", "{\"system\":\"x\",\"messages\":[]}\n x", "anthropic", "line 2, column 2"},
		{"messages: nothing at all", `{"system":[],"messages":[]}`, "auto", "line 1, column 1"},
		{"messages: a result's id that is no string",
			`[{"role":"user","content":[{"type":"tool_result","tool_use_id":1}]}]`, "auto", "line 1, column 64"},
		{"responses: no items", `{"instructions":"x","input":{}}`, "openai-responses", "line 1, column 1"},
		{"responses: an item without a type",
			`{"input":[{"type":"message","role":"user","content":"x"},{"role":"user"},{"id":"x","type":""}]}`,
			"openai-responses", "line 1, column 74"},
		{"responses: a role that is none", `{"input":[{"role":"model","content":"x"}]}`, "auto", "line 1, column 19"},
		{"responses: a result in the form of chat completions", `{"input":[{"role":"tool","content":"x"}]}`, "auto",
			"line 1, column 11"},
		{"responses: a key in another case", `{"input":[{"type":"function_call","Call_ID":"x"}]}`, "auto",
			"line 1, column 45"},
		{"gemini: no list", `{"systemInstruction":{}}`, "gemini", "line 1, column 1"},
		{"gemini: a role of another provider", `{"contents":[{"parts":[]},{"role":"assistant","parts":[]}]}`, "auto",
			"line 1, column 27"},
		{"gemini: parts that are no list", `{"contents":[{"parts":[]},{"parts":{}}]}`, "auto", "line 1, column 36"},
		{"gemini: a call without a name", `{"contents":[{"role":"model","parts":[{"functionCall":{"args":{}}}]}]}`,
			"auto", "line 1, column 55"},
		{"gemini: a key in another case", `{"contents":[{"parts":[{"functioncall":{}}]}]}`, "auto", "line 1, column 40"},
		{"cli: an entry without a type", `{"sessionId":"s","messages":[{"type":"user","content":"x"},{"type":""}]}`,
			"auto", "line 1, column 60"},
		{"cli: calls that are no list", `{"sessionId":"s","messages":[{"type":"gemini","toolCalls":{}}]}`, "auto",
			"line 1, column 59"},
		{"a recording of nothing", `[{"request":{},"response":{}}]`, "auto", "line 1, column 1"},
		{"a recorded body that is broken",
			`[{"response":{},"request":{"contents":[{"parts":[{"text":"x"}]},{"role":1}]}}]`, "auto",
			"line 1, column 73"},
		{"rollout: no payload", rollout + `{"type":"response_item"}`, "auto", "line 2, column 1"},
		{"rollout: a payload that is none", rollout + `{"type":"event_msg","payload":"x"}`, "auto", "line 2, column 31"},
		{"rollout: a role that is none",
			rollout + `{"type":"response_item","payload":{"type":"message","role":"robot"}}`, "auto",
			"line 2, column 35"},
		{"rollout: content that is none",
			rollout + `{"type":"response_item","payload":{"type":"message","role":"user","content":7}}`, "auto",
			"line 2, column 77"},
		{"rollout: a call id that is no string",
			rollout + `{"type":"response_item","payload":{"type":"function_call","call_id":1}}`, "auto",
			"line 2, column 69"},
		{"rollout: a rollback of nothing", rollout + `{"type":"event_msg","payload":{"type":"thread_rolled_back"}}`,
			"auto", "line 2, column 31"},
		{"rollout: a replacement that is none",
			rollout + `{"type":"compacted","payload":{"message":"x","replacement_history":[1]}}`, "auto",
			"line 2, column 69"},
		{"rollout: a key in another case", rollout + `{"type":"response_item","Payload":{}}`, "auto", "line 2, column 35"},
		{"rollout: cut off by a crash", rollout + `{"type":"response_item","payload":{"ty`, "auto", "line 2, column 39"},
		{"rollout: no messages", `{"type":"session_meta","payload":{}}`, "auto", "line 1, column 1"},
		{"pi: the session alone", session, "auto", "line 1, column 1"},
		{"pi: no session", `{"type":"message","message":{"role":"user"}}`, "pi", "line 1, column 1"},
		{"pi: no message", session + `{"type":"message"}`, "auto", "line 2, column 1"},
		{"pi: a role that is none", session + `{"type":"message","message":{"role":"robot"}}`, "auto", "line 2, column 37"},
		{"pi: a block that is none", session + `{"type":"message","message":{"role":"user","content":["x"]}}`, "auto",
			"line 2, column 55"},
		{"pi: an id that is no string", session + `{"type":"message","id":4,"message":{"role":"user"}}`, "auto",
			"line 2, column 24"},
		{"pi: a summary that is no string", session + `{"type":"compaction","summary":[]}`, "auto", "line 2, column 32"},
		{"trajectory: no role", `{"history":[{"role":"user"},{"content":"x"}]}`, "auto", "line 1, column 29"},
		{"trajectory: no history", `{"trajectory":[]}`, "swe-agent", "line 1, column 1"},
		{"trajectory: text after it", `{"history":[{"role":"user"}]}` + "\nx", "swe-agent", "line 2, column 1"},
		{"events: none", `{"history":[]}`, "openhands", "line 1, column 1"},
		{"events: no list", `{"a":1}`, "openhands", "line 1, column 1"},
		{"events: one that is none", `[{"source":"user","action":"message","args":{"content":"x"}},7]`, "auto",
			"line 1, column 62"},
		{"events: arguments that are none", `[{"source":"user","action":"message","args":7}]`, "auto", "line 1, column 45"},
		{"events: content that is none", `[{"source":"agent","observation":"run","content":{}}]`, "auto",
			"line 1, column 50"},
		{"events: cut off", `[{"source":"user","action":"message","args":{"content":"x"}},`, "openhands",
			"line 1, column 62"},
	} {
		t.Run(c.why, func(t *testing.T) {
			_, err := transcript.Read("dir/s.jsonl", []byte(c.data), c.format)
			if !errors.Is(err, &abi.Error{Code: abi.CodeBadInput}) {
				t.Fatalf("got %v, want code %s", err, abi.CodeBadInput)
			}
			e := abi.AsError(err)
			if !strings.HasPrefix(e.Message, "dir/s.jsonl: ") || !strings.Contains(e.Message, c.at+": ") && c.at != "" {
				t.Errorf("at %q: %s", c.at, e.Message)
			}
			if e.Hint == "" || len(e.Message) > 600 {
				t.Errorf("hint %q, message %q", e.Hint, e.Message)
			}
		})
	}
}

func TestUnknownFormat(t *testing.T) {
	if _, err := transcript.Read("s", []byte(`{"role":"user"}`), "punchcard"); abi.CodeOf(err) != abi.CodeUsage {
		t.Errorf("read: %v", err)
	}
	s := read(t, []byte(`{"role":"user"}`), transcript.Neutral)
	for _, to := range []transcript.Format{"punchcard", transcript.Auto} {
		t.Run(string(to), func(t *testing.T) {
			if _, err := s.Encode(s.Messages, to); abi.CodeOf(err) != abi.CodeUsage {
				t.Errorf("encode %s: %v", to, err)
			}
		})
	}
}

// Encode writes what a compaction may make of a list, and nothing else.
func TestEncodeRefuses(t *testing.T) {
	const file = `{"id":"u","role":"user","content":"x"}
{"id":"a","role":"assistant","content":"y","tool_calls":[{"id":"c","name":"f","arguments":"{}"}]}
{"id":"t","role":"tool","tool_call_id":"c","content":"z"}
`
	for why, change := range map[string]func(l []abi.Message) []abi.Message{
		"another order":   func(l []abi.Message) []abi.Message { l[0], l[1] = l[1], l[0]; return l },
		"a message twice": func(l []abi.Message) []abi.Message { return append(l, l[2]) },
		"a new message twice": func(l []abi.Message) []abi.Message {
			return append(l, abi.Message{ID: "n"},
				abi.Message{ID: "n"})
		},
		"other words of a user":  func(l []abi.Message) []abi.Message { l[0].Content = abi.Text("!"); return l },
		"other words of a model": func(l []abi.Message) []abi.Message { l[1].Content = abi.Text("!"); return l },
		"another role":           func(l []abi.Message) []abi.Message { l[0].Role = abi.RoleSystem; return l },
		"another kind":           func(l []abi.Message) []abi.Message { l[0].Kind = abi.KindMeta; return l },
		"another call":           func(l []abi.Message) []abi.Message { l[1].ToolCalls[0].Name = "g"; return l },
		"a call less":            func(l []abi.Message) []abi.Message { l[1].ToolCalls = nil; return l },
		"another pair":           func(l []abi.Message) []abi.Message { l[2].ToolCallID = "d"; return l },
	} {
		t.Run(why, func(t *testing.T) {
			s := read(t, []byte(file), transcript.Auto)
			if out, err := s.Encode(change(s.Messages), transcript.Same); abi.CodeOf(err) != abi.CodeUsage {
				t.Errorf("%s: %v\n%s", why, err, out)
			}
		})
	}
}

// The host marks messages; that is no change to write.
func TestEncodeIgnoresMarks(t *testing.T) {
	const file = `{"id":"u","role":"user","content":"x"}`
	s := read(t, []byte(file), transcript.Auto)
	s.Messages[0].Meta = abi.Meta{abi.MetaAlwaysKeep: []byte("true")}
	if out := encode(t, s, s.Messages, transcript.Same); string(out) != file {
		t.Errorf("wrote %s", out)
	}
}

// TestNoSession: what is no session at all is told apart, so that a wrong file is known for what it is.
func TestNoSession(t *testing.T) {
	for data, want := range map[string]string{
		"":                               "the file is empty",
		" \n\n":                          "there is nothing but blanks in the file",
		"Once upon a time":               "this is text, and no JSON",
		"Ünïcode":                        "this is text, and no JSON",
		"abc\xff\xfe\x00\x01 and so on.": "this is no text",
		"abc\x00def":                     "this is no text",
		strings.Repeat("é", 400):         "this is text, and no JSON",
		"a" + strings.Repeat("é", 400):   "this is text, and no JSON", // one is cut where the look ends
	} {
		_, err := transcript.Read("log", []byte(data), transcript.Auto)
		if abi.CodeOf(err) != abi.CodeBadInput || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v; want %s", data, err, want)
		}
	}
}
