package models

import (
	"regexp"
	"strings"
)

// phrase is how a provider says that a request does not fit. Where the body
// that it was taken from can be seen stands in the test, one or more for each.
type phrase struct {
	words *regexp.Regexp
	bytes bool
}

// phrases are in the order in which they are looked for: those with numbers
// stand before those that would find the same text without.
var phrases = []phrase{
	// vLLM, where the input fits and the answer does not
	tokens("is too large: <answer>. this model.{0,6}s maximum context length is <limit> tokens and your request has <tokens> input tokens"),
	tokens("you passed <tokens> input tokens and requested <answer> output tokens.{0,40}context length is only <limit>"),
	// vLLM: what is left for the answer, where that is less than nothing
	tokens("max_tokens must be at least 1, got -"),
	// OpenAI, Azure, DeepSeek, OpenRouter, vLLM, SGLang
	tokens("maximum context length (?:is|of) <limit>(?: tokens)?[^0-9]{1,60}<tokens> (?:input )?tokens"),
	tokens("maximum context length (?:is|of) <limit>"),
	tokens("input tokens exceed the configured limit of <limit> tokens(?:. your messages resulted in <tokens>)?"),
	// Ollama, Fireworks
	tokens("prompt is too long: <tokens>, model maximum context length: <limit>"),
	// Anthropic, also through Bedrock and Vertex
	tokens(`prompt is too long(?:: <tokens> tokens (?:>|\\u003e) <limit> maximum)?`),
	tokens("input length and `max_tokens` exceed context limit(?:: <tokens> [+] <answer> (?:>|\\\\u003e) <limit>)?"),
	// OpenAI's Responses, Anthropic
	tokens("exceeds (?:the |this )?(?:model(?:.{0,6}s)? )?context window"),
	// Gemini
	tokens(`input token count (?:\(<tokens>\) )?exceeds the maximum number of tokens allowed(?: \(?<limit>)?`),
	// xAI
	tokens("maximum prompt length is <limit> but the request contains <tokens>"),
	// Mistral
	tokens("<tokens> tokens.{0,20}too large for model with <limit> maximum context length"),
	// SGLang, Together
	tokens(`input \(<tokens> tokens\) is longer than the model.{0,6}s context length \(<limit>`),
	tokens(`input length \(<tokens> tokens\) exceeds the maximum allowed length \(<limit>`),
	// Text Generation Inference
	tokens("`inputs` tokens [+] `max_new_tokens` must be (?:<|\\\\u003c)= <limit>(?:. given: <tokens> `inputs` tokens and <answer>)?"),
	tokens("`inputs` must have less than <limit> tokens(?:. given: <tokens>)?"),
	// llama.cpp, and Ollama since it runs that
	tokens(`request \(<tokens> tokens\) exceeds the available context size \(<limit>`),
	tokens("exceeds the available context size"),
	// Ollama, older ones
	tokens("prompt too long; exceeded (?:max )?context length"),
	tokens("input length exceeds the (?:maximum )?context length"),
	// LM Studio
	tokens("trying to keep the first <tokens> tokens when context (?:the )?overflows.{0,60}context length of only <limit>"),
	tokens(`greater than the context length(?: \(n_keep: <tokens> ?>= ?n_ctx: <limit>)?`),
	tokens("context size has been exceeded"),
	// oMLX, DwarfStar
	tokens("prompt too long: <tokens> tokens exceeds max context window of <limit>"),
	tokens(`prompt tokens \(<tokens>\) exceeds context size \(<limit>`),
	// Cerebras, Groq
	tokens("reduce the length of the messages or completion(?:. current length is <tokens> while limit is <limit>)?"),
	// GitHub Copilot
	tokens("prompt token count of <tokens> exceeds the limit of <limit>"),
	// Moonshot
	tokens(`exceeded model token limit(?:: <limit> \(requested: <tokens>)?`),
	// MiniMax; the number that it adds is no limit
	tokens("context window exceeds limit"),
	// DashScope
	tokens(`range of input length should be \[[0-9]+, ?<limit>`),
	// Cohere
	tokens(`total number of tokens \(prompt and prediction\) cannot exceed <limit> - received <tokens>`),
	// Bedrock
	tokens("input is too long for requested model"),
	// codes
	tokens("context_length_exceeded|context length exceeded|model_max_prompt_tokens_exceeded|exceed_context_size_error|contextwindowexceedederror"),

	// OpenAI, for one content; other strings have limits that are none of ours
	size(`invalid '(?:messages|input)\[[0-9]+\]\.content[^']*': string too long. expected a string with maximum length <limit>, but got a string with length <tokens>`),
	// Bedrock
	size("value at 'body' failed to satisfy constraint: member must have length less than or equal to <limit>"),
	size("expected maxlength: <limit>, actual: <tokens>"),
	// Anthropic, and servers in front of others
	size("request_too_large|request exceeds the maximum size|request entity too large|payload too large"),
}

// rateLimited are the words for too much in too short a time. They win, since
// such errors speak of tokens and limits too.
var rateLimited = regexp.MustCompile(`(?i)tokens per (?:min|hour|day)|\btp[md]\b|rate[_ ]limit|too many requests|throttling|insufficient_quota`)

func tokens(s string) phrase { return phrase{words: pattern(s)} }

func size(s string) phrase { return phrase{words: pattern(s), bytes: true} }

// pattern compiles a phrase in lower case. <name> stands for a number.
func pattern(s string) *regexp.Regexp {
	const n = `(?P$0[0-9][0-9,]*)`
	return regexp.MustCompile(placeholder.ReplaceAllString(strings.ReplaceAll(s, ". ", `\. `), n))
}

var placeholder = regexp.MustCompile(`<(?:tokens|limit|answer)>`)
