package oracle_test

import (
	"cmp"
	"context"
	"testing"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	openaioption "github.com/openai/openai-go/v3/option"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/modeltest"
	"github.com/kagewasm/kagewasm/models"
)

const (
	name = "small-1"
	key  = "sk-planted-0123456789"
)

// sdk asks a server through an official SDK what package models asks it.
type sdk func(ctx context.Context, s *modeltest.Server, r abi.ModelRequest) (abi.ModelResponse, error)

var sdks = map[modeltest.Wire]sdk{modeltest.OpenAI: askOpenAI, modeltest.Anthropic: askAnthropic}

// ours asks the same through package models.
func ours(t *testing.T, s *modeltest.Server, w modeltest.Wire, r abi.ModelRequest) (abi.ModelResponse, error) {
	t.Helper()
	m, err := models.New(models.Config{
		Provider: models.Provider(w), Model: name, BaseURL: s.URL(w), Key: key, Retries: -1, Timeout: time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	return m.Complete(t.Context(), r)
}

func askOpenAI(ctx context.Context, s *modeltest.Server, r abi.ModelRequest) (abi.ModelResponse, error) {
	params := openai.ChatCompletionNewParams{Model: name}
	if r.System != "" {
		params.Messages = append(params.Messages, openai.SystemMessage(r.System))
	}
	for _, m := range r.Conversation() {
		if m.Role == abi.RoleAssistant {
			params.Messages = append(params.Messages, openai.AssistantMessage(m.Content))
		} else {
			params.Messages = append(params.Messages, openai.UserMessage(m.Content))
		}
	}
	if r.MaxTokens > 0 {
		params.MaxTokens = openai.Int(int64(r.MaxTokens))
	}
	service := openai.NewChatCompletionService(openaioption.WithBaseURL(s.URL(modeltest.OpenAI)),
		openaioption.WithAPIKey(key), openaioption.WithMaxRetries(0))
	a, err := service.New(ctx, params)
	if err != nil {
		return abi.ModelResponse{}, err
	}
	choice, details := a.Choices[0], a.Usage.PromptTokensDetails
	resp := abi.ModelResponse{
		Text: choice.Message.Content, StopReason: openaiStops[choice.FinishReason], Model: cmp.Or(a.Model, name),
		InputTokens: int(a.Usage.PromptTokens), OutputTokens: int(a.Usage.CompletionTokens),
		CacheReadTokens: int(details.CachedTokens), CacheWriteTokens: int(details.CacheWriteTokens),
	}
	if choice.Message.Refusal != "" {
		resp.StopReason = abi.StopRefusal
	}
	return resp, nil
}

// openaiStops are the reasons that the SDK names as strings in a comment alone.
var openaiStops = map[string]abi.StopReason{
	"": "", "stop": abi.StopEnd, "length": abi.StopLength, "content_filter": abi.StopRefusal,
	"tool_calls": abi.StopOther, "function_call": abi.StopOther,
}

func askAnthropic(ctx context.Context, s *modeltest.Server, r abi.ModelRequest) (abi.ModelResponse, error) {
	params := anthropic.MessageNewParams{Model: name, MaxTokens: int64(cmp.Or(r.MaxTokens, 8192))}
	if r.System != "" {
		params.System = []anthropic.TextBlockParam{{Text: r.System}}
	}
	for _, m := range r.Conversation() {
		if m.Role == abi.RoleAssistant {
			params.Messages = append(params.Messages, anthropic.NewAssistantMessage(anthropic.NewTextBlock(m.Content)))
		} else {
			params.Messages = append(params.Messages, anthropic.NewUserMessage(anthropic.NewTextBlock(m.Content)))
		}
	}
	service := anthropic.NewMessageService(anthropicoption.WithBaseURL(s.URL(modeltest.Anthropic)),
		anthropicoption.WithAPIKey(key), anthropicoption.WithMaxRetries(0), anthropicoption.WithRequestTimeout(time.Minute))
	a, err := service.New(ctx, params)
	if err != nil {
		return abi.ModelResponse{}, err
	}
	read, written := int(a.Usage.CacheReadInputTokens), int(a.Usage.CacheCreationInputTokens)
	resp := abi.ModelResponse{
		StopReason: anthropicStops[a.StopReason], Model: cmp.Or(a.Model, name),
		InputTokens: int(a.Usage.InputTokens) + read + written, OutputTokens: int(a.Usage.OutputTokens),
		CacheReadTokens: read, CacheWriteTokens: written,
	}
	for _, block := range a.Content {
		if text, ok := block.AsAny().(anthropic.TextBlock); ok {
			resp.Text += text.Text
		}
	}
	return resp, nil
}

var anthropicStops = map[anthropic.StopReason]abi.StopReason{
	"":                               "",
	anthropic.StopReasonEndTurn:      abi.StopEnd,
	anthropic.StopReasonStopSequence: abi.StopEnd,
	anthropic.StopReasonMaxTokens:    abi.StopLength,
	anthropic.StopReasonModelContextWindowExceeded: abi.StopLength,
	anthropic.StopReasonRefusal:                    abi.StopRefusal,
	anthropic.StopReasonToolUse:                    abi.StopOther,
	anthropic.StopReasonPauseTurn:                  abi.StopOther,
}
