package models

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"

	"github.com/kagewasm/kagewasm/abi"
)

const openaiURL = "https://api.openai.com/v1"

// openaiWire speaks Chat Completions. The service is made without a client:
// openai.NewClient reads the environment.
func openaiWire(c Config) wire {
	base := cmp.Or(c.BaseURL, openaiURL)
	service := openai.NewChatCompletionService(
		option.WithBaseURL(base), option.WithAPIKey(string(c.Key)), option.WithMaxRetries(0))
	newer := takesMaxCompletionTokens(base)
	return func(ctx context.Context, x *exchange, r abi.ModelRequest) (abi.ModelResponse, error) {
		params := openai.ChatCompletionNewParams{Model: c.Model, Messages: openaiMessages(r)}
		switch limit := param.NewOpt(int64(r.MaxTokens)); {
		case r.MaxTokens == 0:
		case newer:
			params.MaxCompletionTokens = limit
		default:
			params.MaxTokens = limit
		}
		answer, err := service.New(ctx, params, option.WithHTTPClient(x))
		if err != nil {
			return abi.ModelResponse{}, err
		}
		return openaiAnswer(answer)
	}
}

// takesMaxCompletionTokens says whether the provider wants the newer name of
// max_tokens: OpenAI's reasoning models refuse the old one, most servers that
// speak the same protocol know no other.
func takesMaxCompletionTokens(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	host := "." + u.Hostname()
	return strings.HasSuffix(host, ".openai.com") || strings.HasSuffix(host, ".openai.azure.com")
}

func openaiMessages(r abi.ModelRequest) []openai.ChatCompletionMessageParamUnion {
	var out []openai.ChatCompletionMessageParamUnion
	if r.System != "" {
		out = append(out, openai.SystemMessage(r.System))
	}
	for _, m := range r.Conversation() {
		if m.Role == abi.RoleAssistant {
			out = append(out, openai.AssistantMessage(m.Content))
		} else {
			out = append(out, openai.UserMessage(m.Content))
		}
	}
	return out
}

func openaiAnswer(a *openai.ChatCompletion) (abi.ModelResponse, error) {
	if a == nil || len(a.Choices) == 0 {
		return abi.ModelResponse{}, errors.New("no choices in it")
	}
	choice, usage := a.Choices[0], a.Usage
	resp := abi.ModelResponse{
		Text:             withoutThinking(choice.Message.Content),
		StopReason:       chatStop(choice.FinishReason),
		Model:            a.Model,
		InputTokens:      int(usage.PromptTokens),
		CacheReadTokens:  int(usage.PromptTokensDetails.CachedTokens),
		CacheWriteTokens: int(usage.PromptTokensDetails.CacheWriteTokens),
		OutputTokens:     int(usage.CompletionTokens),
	}
	if choice.Message.Refusal != "" {
		resp.StopReason = abi.StopRefusal
	}
	return resp, nil
}

// chatStop reads the words that chat completions and Ollama share. Ollama's
// "load", of a model that was loaded and asked nothing, is another.
func chatStop(reason string) abi.StopReason {
	switch reason {
	case "":
		return ""
	case "stop":
		return abi.StopEnd
	case "length":
		return abi.StopLength
	case "content_filter":
		return abi.StopRefusal
	}
	return abi.StopOther
}
