package oracle_test

import (
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/modeltest"
)

var prompt = abi.ModelRequest{Prompt: "Summarize this."}

// TestAnswers: the SDK and package models read the same out of an answer.
func TestAnswers(t *testing.T) {
	for _, tc := range []struct {
		why    string
		answer modeltest.Answer
		wire   modeltest.Wire // "" for both
	}{
		{"everything", modeltest.Answer{
			Text: "## Goal\nShip <it>.", Thinking: "hm", Model: "small-1-20260101",
			Input: 1000, CacheRead: 700, CacheWrite: 100, Output: 50,
		}, ""},
		{"cut off", modeltest.Answer{Text: "half a sum", Stop: abi.StopLength}, ""},
		{"a filter", modeltest.Answer{Text: "I", Stop: abi.StopRefusal}, ""},
		{"a tool that nobody offered", modeltest.Answer{None: true, Stop: abi.StopOther}, ""},
		{"an empty answer", modeltest.Answer{None: true}, ""},
		{"a refusal", modeltest.Answer{Refusal: "I'm sorry, I can't."}, modeltest.OpenAI},
		{"as OpenAI documents it", modeltest.Answer{Body: openaiBody}, modeltest.OpenAI},
		{"as vLLM sends it", modeltest.Answer{Body: vllmBody}, modeltest.OpenAI},
		{"figures of other types", modeltest.Answer{Body: looseOpenAI}, modeltest.OpenAI},
		{"no figures", modeltest.Answer{Body: noFigures}, modeltest.OpenAI},
		{"an error that is null", modeltest.Answer{Body: nullError}, modeltest.OpenAI},
		{"as Anthropic documents it", modeltest.Answer{Body: anthropicBody}, modeltest.Anthropic},
		{"several blocks", modeltest.Answer{Body: blocksBody}, modeltest.Anthropic},
		{"a stop sequence", modeltest.Answer{Body: anthropicStopped("stop_sequence")}, modeltest.Anthropic},
		{"a full window", modeltest.Answer{Body: anthropicStopped("model_context_window_exceeded")}, modeltest.Anthropic},
		{"a pause", modeltest.Answer{Body: anthropicStopped("pause_turn")}, modeltest.Anthropic},
	} {
		for w, ask := range sdks {
			if tc.wire != "" && tc.wire != w {
				continue
			}
			t.Run(string(w)+"/"+tc.why, func(t *testing.T) {
				s := modeltest.New(t, tc.answer)
				want, err := ask(t.Context(), s, prompt)
				if err != nil {
					t.Fatalf("the SDK: %v", err)
				}
				if got, err := ours(t, s, w, prompt); err != nil || got != want {
					t.Errorf("%+v, %v\nthe SDK reads\n%+v", got, err, want)
				}
			})
		}
	}
}

const (
	openaiBody = `{"id":"chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT","object":"chat.completion","created":1741569952,
		"model":"gpt-5.4","choices":[{"index":0,"message":{"role":"assistant","content":"Hello! How can I assist you today?",
		"refusal":null,"annotations":[]},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":19,
		"completion_tokens":10,"total_tokens":29,"prompt_tokens_details":{"cached_tokens":3,"audio_tokens":0},
		"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0,"accepted_prediction_tokens":0,
		"rejected_prediction_tokens":0}},"service_tier":"default"}`
	vllmBody = `{"id":"chatcmpl-5","object":"chat.completion","created":1700000000,"model":"qwen","choices":[{"index":0,
		"message":{"role":"assistant","reasoning_content":"hm","content":"Hello","tool_calls":[]},"logprobs":null,
		"finish_reason":"length","stop_reason":null}],"usage":{"prompt_tokens":9,"total_tokens":12,"completion_tokens":3,
		"prompt_tokens_details":null},"prompt_logprobs":null}`
	looseOpenAI = `{"choices":[{"message":{"content":"fine"},"finish_reason":"stop"}],
		"usage":{"prompt_tokens":"19","completion_tokens":10.0,"prompt_tokens_details":"none"}}`
	noFigures     = `{"choices":[{"message":{"content":"fine"},"finish_reason":null}]}`
	nullError     = `{"error":null,"usage":[],"choices":[{"message":{"content":"fine"}}]}`
	anthropicBody = `{"id":"msg_013Zva2CMHLNnXjNJJKqJ2EF","type":"message","role":"assistant","model":"claude-sonnet-5",
		"content":[{"type":"text","text":"Hi! My name is Claude.","citations":null}],"stop_reason":"end_turn",
		"stop_sequence":null,"usage":{"input_tokens":2095,"output_tokens":503,"cache_creation_input_tokens":2051,
		"cache_read_input_tokens":2051,"cache_creation":{"ephemeral_5m_input_tokens":2051,"ephemeral_1h_input_tokens":0},
		"server_tool_use":null,"service_tier":"standard"}}`
	blocksBody = `{"id":"m","type":"message","role":"assistant","model":"x","content":[
		{"type":"thinking","thinking":"hm","signature":"c2ln"},{"type":"redacted_thinking","data":"x"},
		{"type":"text","text":"one "},{"type":"tool_use","id":"t","name":"f","input":{}},{"type":"new_one","text":"no"},
		{"type":"text","text":"two"}],"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":1}}`
)

func anthropicStopped(reason string) string {
	return `{"id":"m","type":"message","role":"assistant","model":"x","content":[{"type":"text","text":"t"}],
		"stop_reason":"` + reason + `","usage":{"input_tokens":1,"output_tokens":1}}`
}
