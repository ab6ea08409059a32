package wirecheck_test

import (
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/wirecheck"
)

// Each body is taken, or refused for one reason: faults has a word of it, "" is
// none.
func TestWhatProvidersRefuse(t *testing.T) {
	for _, c := range []struct {
		why, fault, body string
		check            func([]byte) []string
	}{
		{"chat: calls and results, in any order", "",
			`{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":null,"tool_calls":[{"id":"a",` +
				`"type":"function","function":{"name":"f","arguments":"{}"}},{"id":"b","type":"custom","custom":{"name":"g",` +
				`"input":"y"}}]},{"role":"tool","tool_call_id":"b","content":""},{"role":"tool","tool_call_id":"a",` +
				`"content":[{"type":"text","text":"x"}]}]}`, wirecheck.OpenAI},
		{"chat: not JSON", "body", `{"messages":`, wirecheck.OpenAI},
		{"chat: no messages", "is empty", `{"messages":[]}`, wirecheck.OpenAI},
		{"chat: a role that is none", `role "human"`, `{"messages":[{"role":"human","content":"x"}]}`, wirecheck.OpenAI},
		{"chat: an orphaned result", "no call before",
			`{"messages":[{"role":"tool","tool_call_id":"a","content":"x"}]}`, wirecheck.OpenAI},
		{"chat: an orphaned call", "no result",
			`{"messages":[{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f",` +
				`"arguments":""}}]},{"role":"user","content":"x"}]}`, wirecheck.OpenAI},
		{"chat: a message of nothing", "neither content nor calls",
			`{"messages":[{"role":"assistant","content":null}]}`, wirecheck.OpenAI},
		{"chat: no parts", "no parts", `{"messages":[{"role":"user","content":[]}]}`, wirecheck.OpenAI},
		{"chat: an image from a tool", "image_url", `{"messages":[{"role":"system","content":[{"type":"image_url"}]}]}`,
			wirecheck.OpenAI},
		{"chat: an id that is too long", "40 bytes", `{"messages":[{"role":"assistant","tool_calls":[{"id":"` +
			strings.Repeat("x", 41) + `","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool",` +
			`"tool_call_id":"` + strings.Repeat("x", 41) + `","content":"x"}]}`, wirecheck.OpenAI},
		{"chat: an id twice", "twice", `{"messages":[{"role":"assistant","tool_calls":[{"id":"a","type":"function",` +
			`"function":{"name":"f","arguments":"{}"}},{"id":"a","type":"function","function":{"name":"f",` +
			`"arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"x"}]}`, wirecheck.OpenAI},

		{"responses: all that there is", "",
			`{"input":[{"role":"user","content":"x"},{"type":"reasoning","summary":[]},{"type":"function_call","call_id":"a",` +
				`"name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"a","output":"y"},{"type":"compaction",` +
				`"encrypted_content":"z"}]}`, wirecheck.Responses},
		{"responses: a text", "", `{"input":"x"}`, wirecheck.Responses},
		{"responses: nothing", "no items", `{"input":[]}`, wirecheck.Responses},
		{"responses: an orphaned result", "no call before",
			`{"input":[{"type":"function_call_output","call_id":"a","output":"y"}]}`, wirecheck.Responses},
		{"responses: whose call the server keeps", "",
			`{"conversation":"c","input":[{"type":"function_call_output","call_id":"a","output":"y"}]}`, wirecheck.Responses},
		{"responses: an orphaned call", "no result",
			`{"input":[{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}]}`, wirecheck.Responses},
		{"responses: reasoning that led to nothing", "led to",
			`{"input":[{"type":"reasoning"},{"role":"user","content":"x"}]}`, wirecheck.Responses},
		{"responses: the model's part from a user", "output_text",
			`{"input":[{"role":"user","content":[{"type":"output_text","text":"x"}]}]}`, wirecheck.Responses},
		{"responses: a compaction that was emptied", "encrypted_content", `{"input":[{"type":"compaction"}]}`,
			wirecheck.Responses},

		{"messages: all that there is", "",
			`{"system":"x","messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"thinking",` +
				`"thinking":"t","signature":"s"},{"type":"tool_use","id":"a","name":"f","input":{}},{"type":"tool_use","id":"b",` +
				`"name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"b"},` +
				`{"type":"tool_result","tool_use_id":"a","content":"x"},{"type":"text","text":"y"}]},{"role":"user",` +
				`"content":"z"}]}`, wirecheck.Anthropic},
		{"messages: the model first", "first message", `{"messages":[{"role":"assistant","content":"x"}]}`,
			wirecheck.Anthropic},
		{"messages: the system among them", "role",
			`{"messages":[{"role":"user","content":"x"},{"role":"system","content":"x"}]}`, wirecheck.Anthropic},
		{"messages: nothing said", "no content", `{"messages":[{"role":"user","content":" "}]}`, wirecheck.Anthropic},
		{"messages: no blocks", "no content",
			`{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[]},{"role":"user",` +
				`"content":"x"}]}`, wirecheck.Anthropic},
		{"messages: a blank text", "a text of nothing",
			`{"messages":[{"role":"user","content":[{"type":"text","text":""}]}]}`, wirecheck.Anthropic},
		{"messages: an orphaned result", "did not call",
			`{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}]}`, wirecheck.Anthropic},
		{"messages: an orphaned call", "no result",
			`{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f",` +
				`"input":{}}]},{"role":"user","content":"x"}]}`, wirecheck.Anthropic},
		{"messages: a result that comes late", "no result",
			`{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f",` +
				`"input":{}}]},{"role":"user","content":"x"},{"role":"user","content":[{"type":"tool_result",` +
				`"tool_use_id":"a"}]}]}`, wirecheck.Anthropic},
		{"messages: a result after words", "after other blocks",
			`{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f",` +
				`"input":{}}]},{"role":"user","content":[{"type":"text","text":"x"},{"type":"tool_result",` +
				`"tool_use_id":"a"}]}]}`, wirecheck.Anthropic},
		{"messages: an id twice", "used twice",
			`{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f",` +
				`"input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]},{"role":"assistant",` +
				`"content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result",` +
				`"tool_use_id":"a"}]}]}`, wirecheck.Anthropic},
		{"messages: an id of other characters", "letters",
			`{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_use","id":"a:b",` +
				`"name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result",` +
				`"tool_use_id":"a:b"}]}]}`, wirecheck.Anthropic},
		{"messages: thinking that nobody signed", "signature",
			`{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"thinking",` +
				`"thinking":"t"}]}]}`, wirecheck.Anthropic},
		{"messages: a server's result alone", "without its call",
			`{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"web_search_tool_result",` +
				`"tool_use_id":"s"}]}]}`, wirecheck.Anthropic},
		{"messages: a block of another provider", "image_url",
			`{"messages":[{"role":"user","content":[{"type":"image_url"}]}]}`, wirecheck.Anthropic},

		{"gemini: all that there is", "", `{"contents":[{"role":"user","parts":[{"text":""}]},{"role":"model",` +
			`"parts":[{"text":"x"},{"functionCall":{"name":"f","args":{}}},{"functionCall":{"id":"2","name":"f"}}]},` +
			`{"role":"user","parts":[{"functionResponse":{"id":"2","name":"f","response":{}}},{"functionResponse":{"name":"f",` +
			`"response":{"output":"x"}}}]},{"role":"user","parts":[{"text":"x"}]}]}`, wirecheck.Gemini},
		{"gemini: no parts", "no parts", `{"contents":[{"role":"user","parts":[]}]}`, wirecheck.Gemini},
		{"gemini: a role of another provider", "role", `{"contents":[{"role":"assistant","parts":[{"text":"x"}]}]}`,
			wirecheck.Gemini},
		{"gemini: an orphaned response", "did not call",
			`{"contents":[{"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}}]}]}`, wirecheck.Gemini},
		{"gemini: a call short of its response", "no response",
			`{"contents":[{"role":"user","parts":[{"text":"x"}]},{"role":"model","parts":[{"functionCall":{"name":"f"}},` +
				`{"functionCall":{"name":"g"}}]},{"role":"user","parts":[{"functionResponse":{"name":"f",` +
				`"response":{}}}]}]}`, wirecheck.Gemini},
		{"gemini: a call after words of the model", "follows neither",
			`{"contents":[{"role":"user","parts":[{"text":"x"}]},{"role":"model","parts":[{"text":"y"}]},{"role":"model",` +
				`"parts":[{"functionCall":{"name":"f"}}]},{"role":"user","parts":[{"functionResponse":{"name":"f",` +
				`"response":{}}}]}]}`, wirecheck.Gemini},
		{"gemini: a part of another provider", "kinds of data",
			`{"contents":[{"role":"user","parts":[{"type":"text","text":"x"}]}]}`, wirecheck.Gemini},
		{"gemini: a response that is a text", "no object",
			`{"contents":[{"role":"user","parts":[{"text":"x"}]},{"role":"model","parts":[{"functionCall":{"name":"f"}}]},` +
				`{"role":"user","parts":[{"functionResponse":{"name":"f","response":"x"}}]}]}`, wirecheck.Gemini},
	} {
		t.Run(c.why, func(t *testing.T) {
			faults := c.check([]byte(c.body))
			switch {
			case c.fault == "" && len(faults) > 0:
				t.Errorf("refused: %q", faults)
			case c.fault != "" && (len(faults) == 0 || !strings.Contains(strings.Join(faults, "\n"), c.fault)):
				t.Errorf("%q, want one of %q", faults, c.fault)
			}
		})
	}
}
