package models

import (
	"errors"
	"net/url"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

const openaiURL = "https://api.openai.com/v1"

type openaiRequest struct {
	Model               string             `json:"model"`
	Messages            []abi.ModelMessage `json:"messages"`
	MaxTokens           int                `json:"max_tokens,omitempty"`
	MaxCompletionTokens int                `json:"max_completion_tokens,omitempty"`
}

type openaiResponse struct {
	Model   string
	Choices []struct {
		Message struct {
			Content content
			Refusal string
		}
		FinishReason string `json:"finish_reason"`
	}
	Usage struct {
		PromptTokens        count `json:"prompt_tokens"`
		CompletionTokens    count `json:"completion_tokens"`
		PromptTokensDetails struct {
			CachedTokens     count `json:"cached_tokens"`
			CacheWriteTokens count `json:"cache_write_tokens"`
		} `json:"prompt_tokens_details"`
	}
}

// openaiWire speaks Chat Completions.
func openaiWire(c Config) wire {
	base := c.base(openaiURL, "")
	newer := takesMaxCompletionTokens(base)
	return wire{
		url: base + "/chat/completions", header: bearer(c.Key), answer: openaiAnswer,
		request: func(r abi.ModelRequest) any {
			req := openaiRequest{Model: c.Model, Messages: withSystem(r), MaxTokens: r.MaxTokens}
			if newer {
				req.MaxTokens, req.MaxCompletionTokens = 0, r.MaxTokens
			}
			return req
		},
	}
}

// takesMaxCompletionTokens reports whether the provider wants the newer name of
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

func openaiAnswer(body []byte) (abi.ModelResponse, error) {
	var a openaiResponse
	if err := decode(body, &a); err != nil {
		return abi.ModelResponse{}, err
	}
	if len(a.Choices) == 0 {
		return abi.ModelResponse{}, errors.New("no choices in it")
	}
	choice, details := a.Choices[0], a.Usage.PromptTokensDetails
	resp := abi.ModelResponse{
		Text:             withoutThinking(choice.Message.Content),
		StopReason:       chatStops.of(choice.FinishReason),
		Model:            a.Model,
		InputTokens:      int(a.Usage.PromptTokens),
		CacheReadTokens:  int(details.CachedTokens),
		CacheWriteTokens: int(details.CacheWriteTokens),
		OutputTokens:     int(a.Usage.CompletionTokens),
	}
	if choice.Message.Refusal != "" {
		resp.StopReason = abi.StopRefusal
	}
	return resp, nil
}
