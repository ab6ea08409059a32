package transcript_test

import (
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/transcript"
)

// One value changes, and not a byte beside it.
func TestEditsInPlace(t *testing.T) {
	for _, c := range []struct {
		why      string
		format   transcript.Format
		in, want string // old is what stands between << and >> in the source
		args     bool
		text     string
	}{
		{why: "a result that is a string", format: transcript.Neutral, text: "[Pruned]",
			in: "{\"content\" : <<\"l\\u00f6ng\">> , \"role\":\"tool\",\"n\":1.50}\r\n\r\n", want: `"[Pruned]"`},
		{why: "a result that is a list becomes a string", format: transcript.Neutral, text: "[Pruned]",
			in: `{"role":"tool","content":<<[ {"type":"text","text":"a"} ]>>,"x":1}`, want: `"[Pruned]"`},
		{why: "a result that is null", format: transcript.Neutral, text: "none",
			in: `{"role":"tool","content":<<null>>}`, want: `"none"`},
		{why: "a result that is not there yet", format: transcript.Neutral, text: "none",
			in: `{"role":"tool" <<>>}`, want: `,"content":"none"`},
		{why: "arguments that are a string stay one", format: transcript.Neutral, args: true, text: `{"p": 1}`,
			in:   `{"role":"assistant","tool_calls":[{"arguments":<<"{\"path\":\"x\"}">>,"id":"c","name":"f"}]}`,
			want: `"{\"p\": 1}"`},
		{why: "arguments that are an object stay one", format: transcript.Neutral, args: true, text: `{"p": 1}`,
			in: `{"role":"assistant","tool_calls":[{"arguments":<<{ "path": "x" }>>,"id":"c","name":"f"}]}`, want: `{"p":1}`},
		{why: "unless what comes is none", format: transcript.Neutral, args: true, text: `[Pruned]`,
			in: `{"role":"assistant","tool_calls":[{"arguments":<<{ "path": "x" }>>,"id":"c","name":"f"}]}`, want: `"[Pruned]"`},
		{why: "a chat result inside a document", format: openAI, text: "a \"b\" <c>",
			in:   "{\n  \"messages\": [\n    {\"role\": \"tool\", \"content\": <<\"long\">>}\n  ],\n  \"seed\": 1e3\n}",
			want: `"a \"b\" <c>"`},
		{why: "chat arguments", format: openAI, args: true, text: "[Pruned]",
			in: `[{"role":"assistant","content":null,"tool_calls":[{"id":"c","function":{"arguments":<<"{}">>,` +
				`"name":"f"}}]}]`, want: `"[Pruned]"`},
		{why: "the older function call", format: openAI, args: true, text: "{}",
			in: `[{"role":"assistant","function_call":{"name":"f","arguments":<<"{ }">>}}]`, want: `"{}"`},
		{why: "a result in a log; what the log shows on screen stays", format: claudeCode, text: "short",
			in: `{"parentUuid":null,"type":"user","message":{"role":"user","content":[{"type":"tool_result",` +
				`"content":<<[{"type":"text","text":"long"}]>>,"tool_use_id":"t"}]},"uuid":"u",` +
				`"toolUseResult":{"stdout":"long"}}`, want: `"short"`},
		{why: "a result in a log that has no content", format: claudeCode, text: "short",
			in:   `{"type":"user","uuid":"u","message":{"content":[{"type":"tool_result","tool_use_id":"t"<<>>}]}}`,
			want: `,"content":"short"`},
		{why: "the input of a call in a log", format: claudeCode, args: true, text: `{"a": 2}`,
			in: `{"type":"assistant","uuid":"u","message":{"content":[{"type":"tool_use","id":"t","name":"f",` +
				`"input":<<{"a": 1}>>}]}}`, want: `{"a":2}`},
		{why: "an input has to be an object", format: claudeCode, args: true, text: `[Pruned]`,
			in: `{"type":"assistant","uuid":"u","message":{"content":[{"type":"tool_use","id":"t","name":"f",` +
				`"input":<<{"a": 1}>>}]}}`, want: `{"arguments":"[Pruned]"}`},
		{why: "an output in a rollout", format: codex, text: "short",
			in:   `{"type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":<<"long">>}}`,
			want: `"short"`},
		{why: "an output of an older rollout, beside its mark", format: codex, text: "short",
			in: `{"type":"response_item","payload":{"type":"function_call_output","call_id":"c",` +
				`"output":{"content":<<"long">>,"success":false}}}`, want: `"short"`},
		{why: "arguments in a rollout are text", format: codex, args: true, text: `{"a": 2}`,
			in: `{"type":"response_item","payload":{"type":"function_call","name":"f","arguments":<<"{}">>,` +
				`"call_id":"c"}}`, want: `"{\"a\": 2}"`},
		{why: "so is the input of a custom tool", format: codex, args: true, text: `[Pruned]`,
			in: `{"type":"response_item","payload":{"type":"custom_tool_call","name":"f","input":<<"*** Begin">>,` +
				`"call_id":"c"}}`, want: `"[Pruned]"`},
		{why: "a result of pi is always a list", format: pi, text: "short",
			in: "{\"type\":\"session\",\"id\":\"s\"}\n" + `{"type":"message","message":{"role":"toolResult",` +
				`"toolCallId":"c","content":<<[{"type":"text","text":"long"},` +
				`{"type":"text","text":"er"}]>>,"isError":false,` +
				`"details":{"a":1}}}`,
			want: `[{"type":"text","text":"short"}]`},
		{why: "arguments of pi are an object", format: pi, args: true, text: `[Pruned]`,
			in: "{\"type\":\"session\",\"id\":\"s\"}\n" + `{"type":"message","message":{"role":"assistant",` +
				`"content":[{"type":"toolCall","id":"c","name":"f",` +
				`"arguments":<<{"a": 1}>>}]}}`,
			want: `{"arguments":"[Pruned]"}`},
		{why: "a result in a trajectory; the steps beside it stay", format: sweAgent, text: "short",
			in: `{"trajectory":[{"observation":"long"}],"history":[{"role":"tool","content":<<"long">>,` +
				`"tool_call_ids":["c"]}]}`, want: `"short"`},
		{why: "arguments in a trajectory", format: sweAgent, args: true, text: "{}",
			in: `{"history":[{"role":"assistant","content":"x","tool_calls":[{"id":"c","function":{"name":"f",` +
				`"arguments":<<"{ }">>}}]}]}`, want: `"{}"`},
		{why: "an observation", format: openHands, text: "short",
			in: `[{"id":1,"source":"agent","observation":"run","cause":0,"content":<<"long">>,"extras":{}}]`, want: `"short"`},
		{why: "an answer's arguments are text", format: openHands, args: true, text: "{}",
			in: `[{"id":1,"source":"agent","action":"run","args":{"command":"ls","thought":"t"},` +
				`"tool_call_metadata":{"tool_call_id":"c","function_name":"f","model_response":{"id":"r",` +
				`"choices":[{"message":{"content":"t","tool_calls":[{"id":"c","function":{"name":"f",` +
				`"arguments":<<"{ }">>}}]}}]}}}]`,
			want: `"{}"`},
		{why: "an action's own arguments are an object, and the words beside them stay", format: openHands, args: true,
			text: `{"command":"x"}`,
			in:   `[{"id":1,"source":"agent","action":"run","args":<<{"command":"ls","thought":"t"}>>}]`,
			want: `{"command":"x","thought":"t"}`},
	} {
		t.Run(c.why, func(t *testing.T) {
			before, rest, _ := strings.Cut(c.in, "<<")
			old, after, _ := strings.Cut(rest, ">>")
			s := read(t, []byte(before+old+after), c.format)
			if c.args {
				s.Messages[0].ToolCalls[0].Arguments = c.text
			} else {
				s.Messages[0].Content = abi.Text(c.text)
			}
			got := string(encode(t, s, s.Messages, transcript.Same))
			if want := before + c.want + after; got != want {
				t.Errorf("%s:\n got %s\nwant %s", c.why, got, want)
			}
		})
	}
}

// Messages come and go, and the file keeps its style.
func TestInsertAndRemove(t *testing.T) {
	summary := abi.Message{ID: "k1", Role: abi.RoleUser, Kind: abi.KindSummary, Content: abi.Text("so far")}
	for _, c := range []struct {
		why      string
		keep     []int // indices; -1 is the summary
		in, want string
	}{
		{"neutral: the new message carries its id and kind; the tools stay first", []int{0, -1, 2},
			"{\"tools\": []}\r\n{\"role\":\"user\",\"content\":\"1\"}\r\n{\"role\":\"assistant\"," +
				"\"content\":\"2\"}\r\n\r\n{\"role\":\"user\",\"content\":\"3\"}",
			"{\"tools\": []}\r\n{\"role\":\"user\",\"content\":\"1\"}\r\n{\"id\":\"k1\",\"role\":\"user\"," +
				"\"content\":\"so far\",\"kind\":\"compaction_summary\"}\r\n{\"role\":\"user\",\"content\":\"3\"}"},
		{"neutral: neighbours keep what was between them", []int{1, 2},
			"\n{\"role\":\"user\"}\n{\"role\":\"assistant\"}\n \n{\"role\":\"user\"}\n\n",
			"\n{\"role\":\"assistant\"}\n \n{\"role\":\"user\"}\n\n"},
		{"a pretty list: the new message is indented like the others", []int{0, -1, 2},
			"{\n  \"messages\": [\n    {\n      \"role\": \"user\"\n    },\n    {\n      \"role\": \"assistant\"\n " +
				"   },\n    {\n      \"role\": \"user\"\n    }\n  ],\n  \"n\": 1.0\n}\n",
			"{\n  \"messages\": [\n    {\n      \"role\": \"user\"\n    },\n    {\n      \"role\": \"user\",\n     " +
				" \"content\": \"so far\"\n    },\n    {\n      \"role\": \"user\"\n    }\n  ],\n  \"n\": 1.0\n}\n"},
		{"a compact list", []int{-1, 2},
			`[{"role":"user"},{"role":"assistant"},{"role":"user"}]`, `[{"role":"user","content":"so far"},{"role":"user"}]`},
		{"a list of one", []int{0, -1},
			"[\n\t{\"role\": \"user\"}\n]", "[\n\t{\"role\": \"user\"},\n\t{\"role\":\"user\",\"content\":\"so far\"}\n]"},
		{"nothing left", nil, "{\"traj\": [ {\"role\": \"user\"} ], \"x\": 1}", "{\"traj\": [], \"x\": 1}"},
		{"a summary alone", []int{-1}, "{\"traj\": [ {\"role\": \"user\"} ], \"x\": 1}",
			"{\"traj\": [ {\"role\":\"user\",\"content\":\"so far\"} ], \"x\": 1}"},
	} {
		t.Run(c.why, func(t *testing.T) {
			s := read(t, []byte(c.in), transcript.Auto)
			var list []abi.Message
			for _, i := range c.keep {
				if i < 0 {
					list = append(list, summary)
				} else {
					list = append(list, s.Messages[i])
				}
			}
			if got := string(encode(t, s, list, transcript.Same)); got != c.want {
				t.Errorf("%s:\n got %q\nwant %q", c.why, got, c.want)
			}
		})
	}
}
