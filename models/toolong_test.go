package models_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/models"
)

// overflows are real error bodies: who sends it, what it says, what can be
// read out of it, and where it was seen.
var overflows = []struct {
	provider, body string
	want           abi.Exceeded
	source         string
}{
	{"OpenAI", `{"error":{"message":"This model's maximum context length is 4097 tokens. However, your messages resulted in 4294 tokens. Please reduce the length of the messages.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`,
		abi.Exceeded{Tokens: 4294, Limit: 4097}, "github.com/chathub-dev/chathub/issues/126"},
	{"OpenAI", `{"error":{"message":"This model's maximum context length is 4097 tokens. However, you requested 4120 tokens (3120 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`,
		abi.Exceeded{Tokens: 4120, Limit: 4097}, "github.com/mckaywrigley/chatbot-ui/issues/102"},
	{"OpenAI", `This model's maximum context length is 8191 tokens, however you requested 8238 tokens (8238 in your prompt; 0 for the completion). Please reduce your prompt; or completion length.`,
		abi.Exceeded{Tokens: 8238, Limit: 8191}, "github.com/fierceX/Document_QA/issues/3"},
	{"OpenAI", `openai.BadRequestError: Error code: 400 Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 428548 tokens.`,
		abi.Exceeded{Tokens: 428548, Limit: 272000}, "a server log in a public repository"},
	{"OpenAI, re-encoded by .NET", `{"message":"This model\u0027s maximum context length is 128000 tokens. However, your messages resulted in 204308 tokens."}`,
		abi.Exceeded{Tokens: 204308, Limit: 128000}, "what System.Text.Json makes of github.com/webtimemachine/wtm2/issues/579"},
	{"OpenAI Responses", `{"type":"error","sequence_number":2,"error":{"type":"invalid_request_error","code":"context_length_exceeded","message":"Your input exceeds the context window of this model. Please adjust your input and try again.","param":"input"}}`,
		abi.Exceeded{}, "github.com/anomalyco/opencode/issues/6071"},
	{"OpenAI, one content", `{"error":{"message":"Invalid 'input[0].content': string too long. Expected a string with maximum length 10485760, but got a string with length 62114761 instead.","type":"invalid_request_error","param":"input[0].content","code":"string_above_max_length"}}`,
		abi.Exceeded{Tokens: 62114761, Limit: 10485760, Bytes: true}, "github.com/VectorlyApp/bluebox/issues/31"},
	{"Azure through LiteLLM", `litellm.ContextWindowExceededError: litellm.BadRequestError: AzureException ContextWindowExceededError - Error code: 400 - {'error': {'message': "This model's maximum context length is 128000 tokens. However, you requested 129182 tokens (113182 in the messages, 16000 in the completion). Please reduce the length of the messages or completion.", 'type': 'invalid_request_error', 'param': 'messages', 'code': 'context_length_exceeded'}}`,
		abi.Exceeded{Tokens: 129182, Limit: 128000}, "a log in a public repository"},
	{"LiteLLM", `{"error":{"message":"litellm.ContextWindowExceededError: litellm.BadRequestError: this is a mock context window exceeded error","type":null,"param":null,"code":"400"}}`,
		abi.Exceeded{}, "captured from LiteLLM 1.97"},
	{"vLLM behind LiteLLM", `{"error":{"message":"litellm.ContextWindowExceededError: litellm.BadRequestError: ContextWindowExceededError: Hosted_vllmException - This model's maximum context length is 40960 tokens. Received Model Group=qwen","code":"400"}}`,
		abi.Exceeded{Limit: 40960}, "a test in a public repository"},
	{"Anthropic", `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 208310 tokens > 200000 maximum"},"request_id":"req_011CVQe1dLrGNMJyE1ghG1av"}`,
		abi.Exceeded{Tokens: 208310, Limit: 200000}, "github.com/anthropics/claude-code/issues/12186"},
	{"Anthropic, re-encoded by Go", `{"error":{"message":"prompt is too long: 208310 tokens \u003e 200000 maximum"}}`,
		abi.Exceeded{Tokens: 208310, Limit: 200000}, "what encoding/json makes of it"},
	{"Anthropic", `{"type":"error","error":{"type":"invalid_request_error","message":"input length and ` + "`max_tokens`" + ` exceed context limit: 178959 + 64000 > 200000, decrease input length or ` + "`max_tokens`" + ` and try again"}}`,
		abi.Exceeded{Tokens: 242959, Limit: 200000}, "github.com/docker/docker-agent/issues/569"},
	{"Anthropic, wrapped by a terminal", "input length and `max_tokens` exceed context limit: \n     189136 + 20000 > 204648, decrease input length",
		abi.Exceeded{Tokens: 209136, Limit: 204648}, "github.com/anthropics/claude-code/issues/408"},
	{"Anthropic, status 413", `{"type":"error","error":{"type":"invalid_request_error","message":"Request size exceeds model context window"},"request_id":"req_011CSPNDjJb37kb9tWgCojVg"}`,
		abi.Exceeded{}, "github.com/anthropics/claude-code/issues/6358"},
	{"Anthropic, bytes", `413 {"error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`,
		abi.Exceeded{Bytes: true}, "github.com/anthropics/claude-code/issues/14567"},
	{"Gemini", `{"error":{"code":400,"message":"The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}`,
		abi.Exceeded{Tokens: 1200293, Limit: 1048576}, "github.com/google-gemini/gemini-cli/issues/6678"},
	{"Vertex through LiteLLM", `{"error":{"message":"litellm.ContextWindowExceededError: litellm.BadRequestError: ContextWindowExceededError: Vertex_ai_betaException - b'{\n  \"error\": {\n    \"code\": 400,\n    \"message\": \"The input token count exceeds the maximum number of tokens allowed 1048576.\"}}'"}}`,
		abi.Exceeded{Limit: 1048576}, "a test in a public repository"},
	{"Bedrock", `ValidationException: Input is too long for requested model.`,
		abi.Exceeded{}, "github.com/aws-samples/assessment-generator/issues/2"},
	{"Bedrock, Claude", `ValidationException: The model returned the following errors: prompt is too long: 227255 tokens > 200000 maximum`,
		abi.Exceeded{Tokens: 227255, Limit: 200000}, "github.com/aaif-goose/goose/pull/7504"},
	{"Bedrock, bytes", `ValidationException: 1 validation error detected: Value at 'body' failed to satisfy constraint: Member must have length less than or equal to 25000000`,
		abi.Exceeded{Limit: 25000000, Bytes: true}, "github.com/langchain-ai/langchain-aws/issues/419"},
	{"Bedrock, characters", `Malformed input request: expected maxLength: 42000, actual: 46735, please reformat your input and try again.`,
		abi.Exceeded{Tokens: 46735, Limit: 42000, Bytes: true}, "github.com/ryanadoty/Amazon-Bedrock-Amazon-RDS-POC/issues/9"},
	{"vLLM", `{"object":"error","message":"This model's maximum context length is 131072 tokens. However, you requested 156632 tokens (152536 in the messages, 4096 in the completion). Please reduce the length of the messages or completion.","type":"BadRequestError","param":null,"code":400}`,
		abi.Exceeded{Tokens: 156632, Limit: 131072}, "github.com/meta-llama/llama-verifications/issues/58"},
	{"vLLM", `This model's maximum context length is 200 tokens. However, your request has 203 input tokens. Please reduce the length of the input messages. None`,
		abi.Exceeded{Tokens: 203, Limit: 200}, "github.com/UKGovernmentBEIS/inspect_ai/issues/2634"},
	{"vLLM, the answer does not fit", `'max_tokens' or 'max_completion_tokens' is too large: 1000. This model's maximum context length is 1000 tokens and your request has 203 input tokens (1000 > 1000 - 203). None`,
		abi.Exceeded{Tokens: 1203, Limit: 1000}, "github.com/UKGovernmentBEIS/inspect_ai/issues/2634"},
	{"vLLM", `{"error":{"message":"You passed 98305 input tokens and requested 32768 output tokens. However, the model's context length is only 131072 tokens, resulting in a maximum input length of 98304 tokens. Please reduce the length of the input prompt. (parameter=input_tokens, value=98305)","type":"BadRequestError"}}`,
		abi.Exceeded{Tokens: 131073, Limit: 131072}, "a bug report in a public repository"},
	{"vLLM, nothing left for the answer", `{"error":{"message":"max_tokens must be at least 1, got -46771. (parameter=max_tokens, value=-46771)","type":"BadRequestError","param":"max_tokens","code":400}}`,
		abi.Exceeded{}, "measured by a public repository"},
	{"SGLang", `Requested token count exceeds the model's maximum context length of 202752 tokens. You requested a total of 202941 tokens: 170941 tokens from the input messages and 32000 tokens for the completion.`,
		abi.Exceeded{Tokens: 202941, Limit: 202752}, "github.com/anomalyco/opencode/issues/25231"},
	{"SGLang", `{"object":"error","message":"The input (61709 tokens) is longer than the model\'s context length (40960 tokens).","type":"BadRequestError","param":null,"code":400}`,
		abi.Exceeded{Tokens: 61709, Limit: 40960}, "github.com/QwenLM/Qwen3/issues/1321"},
	{"SGLang", `Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens).`,
		abi.Exceeded{Tokens: 160062, Limit: 59862}, "github.com/sgl-project/sglang/issues/4048"},
	{"Together, through LiteLLM", `{"error":{"message":"litellm.ContextWindowExceededError: litellm.BadRequestError: VertexAIException BadRequestError - The input (973402 tokens) is longer than the model's context length (262144 tokens). Received Model Group=qwen3-235b-instruct","code":"400"}}`,
		abi.Exceeded{Tokens: 973402, Limit: 262144}, "a test in a public repository"},
	{"TGI", "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 2048. Given: 3474 `inputs` tokens and 60 `max_new_tokens`",
		abi.Exceeded{Tokens: 3534, Limit: 2048}, "github.com/huggingface/llm-vscode/issues/94"},
	{"TGI", "Input validation error: `inputs` must have less than 1024 tokens. Given: 1168.",
		abi.Exceeded{Tokens: 1168, Limit: 1024}, "github.com/huggingface/text-generation-inference/issues/695"},
	{"llama.cpp", `{"error":{"code":400,"message":"request (13392 tokens) exceeds the available context size (8192 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":13392,"n_ctx":8192}}`,
		abi.Exceeded{Tokens: 13392, Limit: 8192}, "a comment in a public repository; github.com/can1357/oh-my-pi/issues/556"},
	{"llama.cpp, older", `the request exceeds the available context size. try increasing the context size or enable context shift`,
		abi.Exceeded{}, "github.com/QwenLM/qwen-code/issues/371"},
	{"Ollama", `{"error":"The prompt is too long: 208863, model maximum context length: 202752"}`,
		abi.Exceeded{Tokens: 208863, Limit: 202752}, "a test in a public repository; Fireworks says the same"},
	{"Ollama", `{"error":"the input length exceeds the context length"}`,
		abi.Exceeded{}, "github.com/nano-step/nano-brain/issues/208"},
	{"Ollama", `prompt too long; exceeded max context length by 4096 tokens`,
		abi.Exceeded{}, "a test in a public repository"},
	{"LM Studio", `Trying to keep the first 111490 tokens when context the overflows. However, the model is loaded with context length of only 32768 tokens, which is not enough.`,
		abi.Exceeded{Tokens: 111490, Limit: 32768}, "github.com/lmstudio-ai/lmstudio-bug-tracker/issues/546"},
	{"LM Studio", `{"error":"The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 13055>= n_ctx: 4096). Try to load the model with a larger context length, or provide a shorter input."}`,
		abi.Exceeded{Tokens: 13055, Limit: 4096}, "github.com/Gitlawb/openclaude/issues/353"},
	{"LM Studio, MLX", `Context size has been exceeded`,
		abi.Exceeded{}, "github.com/lmstudio-ai/lmstudio-bug-tracker/issues/2339"},
	{"oMLX", `400 Prompt too long: 41911 tokens exceeds max context window of 32768 tokens`,
		abi.Exceeded{Tokens: 41911, Limit: 32768}, "github.com/ValueCell-ai/ClawX/issues/658"},
	{"DwarfStar", `{"error":{"message":"Prompt tokens (9000) exceeds context size (8192)","type":"context_exceeded","n_prompt_tokens":9000,"n_ctx":8192}}`,
		abi.Exceeded{Tokens: 9000, Limit: 8192}, "github.com/antirez/ds4/pull/150"},
	{"OpenRouter", `{"error":{"message":"This endpoint's maximum context length is 131072 tokens. However, you requested about 141607 tokens (10535 of text input, 131072 in the output). Please reduce the length of either one, or use the \"middle-out\" transform to compress your prompt automatically.","code":400,"metadata":{"provider_name":"Chutes"}}}`,
		abi.Exceeded{Tokens: 141607, Limit: 131072}, "github.com/Aider-AI/aider/issues/3721"},
	{"xAI", `{"code":"invalid-argument","error":"This model's maximum prompt length is 131072 but the request contains 136973 tokens."}`,
		abi.Exceeded{Tokens: 136973, Limit: 131072}, "github.com/cline/cline/issues/3120"},
	{"Mistral", `Prompt contains 300000 tokens, too large for model with 131072 maximum context length`,
		abi.Exceeded{Tokens: 300000, Limit: 131072}, "a test in a public repository"},
	{"Groq", `{"error":{"message":"Please reduce the length of the messages or completion.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`,
		abi.Exceeded{}, "the list of an agent's provider library"},
	{"Cerebras", `400 Please reduce the length of the messages or completion. Current length is 42328 while limit is 40000`,
		abi.Exceeded{Tokens: 42328, Limit: 40000}, "github.com/cline/cline/issues/5140"},
	{"DeepSeek", `Error code: 400 - {'error': {'message': "This model's maximum context length is 131072 tokens. However, you requested 131134 tokens (122942 in the messages, 8192 in the completion). Please reduce the length of the messages or completion.", 'type': 'invalid_request_error', 'param': None, 'code': 'invalid_request_error'}}`,
		abi.Exceeded{Tokens: 131134, Limit: 131072}, "github.com/evalstate/fast-agent/issues/621"},
	{"GitHub Copilot", `{"error":{"message":"prompt token count of 138898 exceeds the limit of 64000","code":"model_max_prompt_tokens_exceeded"}}`,
		abi.Exceeded{Tokens: 138898, Limit: 64000}, "github.com/microsoft/copilot-intellij-feedback/issues/94"},
	{"Moonshot", `Error code: 400 - {'error': {'message': 'Invalid request: Your request exceeded model token limit: 262144 (requested: 269030)', 'type': 'invalid_request_error'}}`,
		abi.Exceeded{Tokens: 269030, Limit: 262144}, "github.com/MoonshotAI/kimi-cli/issues/2011"},
	{"MiniMax; 2013 is no limit", `invalid params, context window exceeds limit (2013)`,
		abi.Exceeded{}, "github.com/MiniMax-AI/MiniMax-M2/issues/119"},
	{"DashScope", `400 <400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 204800]`,
		abi.Exceeded{Limit: 204800}, "github.com/QwenLM/qwen-code/issues/98"},
	{"Cohere", `CohereError: too many tokens: total number of tokens (prompt and prediction) cannot exceed 2048 - received 6354. Try using a shorter prompt or a smaller max_tokens value.`,
		abi.Exceeded{Tokens: 6354, Limit: 2048}, "github.com/cohere-ai/sandbox-topically/issues/4"},
	{"nginx", "<html>\r\n<head><title>413 Request Entity Too Large</title></head>\r\n<body>nginx</body></html>",
		abi.Exceeded{Bytes: true}, "nginx's own page for client_max_body_size"},
}

// lookalikes speak of tokens and limits, and are something else.
var lookalikes = []struct{ why, body string }{
	{"a rate limit in tokens", `{"error":{"message":"Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Requested 61337. The input or output tokens must be reduced in order to run successfully.","type":"tokens","code":"rate_limit_exceeded"}}`},
	{"Groq's, which comes with status 413", "Request too large for model `llama-3.3-70b-versatile` in organization `org_x` service tier `on_demand` on tokens per minute (TPM): Limit 6000, Requested 14810, please reduce your message size and try again."},
	{"Anthropic's rate limit", `{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your organization's rate limit of 30,000 input tokens per minute."}}`},
	{"Anthropic's long context is paid for apart", `429 {"type":"error","error":{"type":"rate_limit_error","message":"Extra usage is required for long context requests"}}`},
	{"Bedrock's throttling", `ThrottlingException: Too many tokens, please wait before trying again.`},
	{"the answer alone is too long", `max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you provided 100000.`},
	{"the answer alone, Anthropic", `max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-4-5`},
	{"the answer alone, Groq", "`max_tokens` must be less than or equal to `16384`"},
	{"the answer alone, DashScope", `Range of max_tokens should be [1, 8192]`},
	{"the answer alone, DeepSeek", `Invalid max_tokens value, the valid range of max_tokens is [1, 8192]`},
	{"max_tokens is nonsense", `max_tokens must be at least 1, got 0`},
	{"a name that is too long", `{"error":{"message":"Invalid 'tools[0].function.name': string too long. Expected a string with maximum length 64, but got a string with length 75 instead.","code":"string_above_max_length"}}`},
	{"an image that is too big", `messages.1.content.0.image.source.base64: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes`},
	{"a wrong key", `{"error":{"message":"Incorrect API key provided: sk-abc. You can find your API key at https://platform.openai.com/account/api-keys.","type":"invalid_request_error","code":"invalid_api_key"}}`},
	{"no money", `{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`},
	{"a filter", `{"error":{"message":"The response was filtered due to the prompt triggering Azure OpenAI's content management policy.","type":null,"param":"prompt","code":"content_filter","status":400}}`},
	{"overloaded", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`},
	{"a model that is not there", `{"error":{"message":"The model 'gpt-9' does not exist or you do not have access to it.","code":"model_not_found"}}`},
	{"a file", `File size exceeds the limit of 5 MB. Please send a smaller PDF.`},
	{"a timeout", `context deadline exceeded`},
	{"our own refusal", `the current turn exceeds what the window holds`},
	{"nothing", ``},
}

// FEATURES K3: compacting and trying again needs to know which errors that can
// mend.
func TestContextLengthOfRealBodies(t *testing.T) {
	for _, tc := range overflows {
		if got, ok := models.TooLong(errors.New(tc.body)); !ok || got != tc.want {
			t.Errorf("%s (%s): %+v, %v; want %+v\n%s", tc.provider, tc.source, got, ok, tc.want, tc.body)
		}
		if _, ok := models.TooLong(fmt.Errorf("turn 7: %w", errors.New(tc.body))); !ok {
			t.Errorf("%s: not seen through a wrapper", tc.provider)
		}
	}
}

func TestContextLengthOfLookalikes(t *testing.T) {
	for _, tc := range lookalikes {
		if got, ok := models.TooLong(errors.New(tc.body)); ok {
			t.Errorf("%s: taken for a request that does not fit (%+v)\n%s", tc.why, got, tc.body)
		}
	}
	if _, ok := models.TooLong(nil); ok {
		t.Error("no error: taken for one")
	}
}

func TestContextLengthByCode(t *testing.T) {
	words := "prompt is too long: 208310 tokens > 200000 maximum"
	for code, want := range map[abi.Code]bool{
		abi.CodeContextLength: true,
		abi.CodeModel:         true, // the words decide
		abi.CodeInternal:      true,
		abi.CodeRateLimited:   false,
		abi.CodeExceedsWindow: false, // the compactor's own, which compacting cannot mend
		abi.CodeCanceled:      false,
	} {
		err := fmt.Errorf("call: %w", &abi.Error{Code: code, Message: words})
		if _, got := models.TooLong(err); got != want {
			t.Errorf("code %s with the words of it: %v, want %v", code, got, want)
		}
	}
	bare := &abi.Error{Code: abi.CodeContextLength, Message: "does not fit"}
	if x, ok := models.TooLong(bare); !ok || x != (abi.Exceeded{}) {
		t.Errorf("the code without numbers: %+v, %v", x, ok)
	}
}

func TestOverflowIsBounded(t *testing.T) {
	page := strings.Repeat("<p>tokens 1 </p>", 1<<20)
	if _, ok := models.TooLong(errors.New(page + "prompt is too long")); ok {
		t.Error("words behind 16 MB of something else count")
	}
	if _, ok := models.TooLong(errors.New("prompt is too long " + page)); !ok {
		t.Error("words in front of 16 MB of something else do not count")
	}
	huge := "prompt is too long: 99999999999999999999 tokens > 200000 maximum"
	if x, ok := models.TooLong(errors.New(huge)); !ok || x.Tokens != 0 || x.Limit != 200000 {
		t.Errorf("a number that is none: %+v, %v", x, ok)
	}
}

func FuzzOverflow(f *testing.F) {
	for _, tc := range overflows {
		f.Add(tc.body)
	}
	for _, tc := range lookalikes {
		f.Add(tc.body)
	}
	f.Fuzz(func(t *testing.T, s string) {
		x, ok := models.TooLong(errors.New(s))
		if !ok && x.Tokens+x.Limit != 0 {
			t.Errorf("numbers of no overflow: %+v", x)
		}
		if x.Tokens < 0 || x.Limit < 0 {
			t.Errorf("less than nothing: %+v", x)
		}
	})
}
