package models

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/kagewasm/kagewasm/abi"
)

const anthropicURL = "https://api.anthropic.com"

// anthropicWire speaks Messages. The service is made without a client:
// anthropic.NewClient reads the environment and the user's configuration.
func anthropicWire(c Config) wire {
	// The SDK refuses long answers that are not streamed unless it is told a
	// timeout; ours is on the context, and earlier.
	service := anthropic.NewMessageService(
		option.WithBaseURL(c.base(anthropicURL, "/v1")), option.WithAPIKey(string(c.Key)),
		option.WithMaxRetries(0), option.WithRequestTimeout(c.Timeout))
	return func(ctx context.Context, x *exchange, r abi.ModelRequest) (abi.ModelResponse, error) {
		params := anthropic.MessageNewParams{
			Model:     c.Model,
			MaxTokens: int64(cmp.Or(r.MaxTokens, anthropicMaximum)),
			Messages:  anthropicMessages(r),
		}
		if r.System != "" {
			params.System = []anthropic.TextBlockParam{{Text: r.System}}
		}
		answer, err := service.New(ctx, params, option.WithHTTPClient(x))
		if err != nil {
			return abi.ModelResponse{}, err
		}
		return anthropicAnswer(answer)
	}
}

func anthropicMessages(r abi.ModelRequest) []anthropic.MessageParam {
	var out []anthropic.MessageParam
	for _, m := range r.Conversation() {
		block := anthropic.NewTextBlock(m.Content)
		if m.Role == abi.RoleAssistant {
			out = append(out, anthropic.NewAssistantMessage(block))
		} else {
			out = append(out, anthropic.NewUserMessage(block))
		}
	}
	return out
}

func anthropicAnswer(a *anthropic.Message) (abi.ModelResponse, error) {
	if a == nil || a.Type != "message" {
		return abi.ModelResponse{}, errors.New("no message in it")
	}
	var text strings.Builder
	for _, block := range a.Content {
		if block.Type == "text" { // others are thinking
			text.WriteString(block.Text)
		}
	}
	read, written := int(a.Usage.CacheReadInputTokens), int(a.Usage.CacheCreationInputTokens)
	return abi.ModelResponse{
		Text:             text.String(),
		StopReason:       anthropicStop(a.StopReason),
		Model:            a.Model,
		InputTokens:      int(a.Usage.InputTokens) + read + written,
		CacheReadTokens:  read,
		CacheWriteTokens: written,
		OutputTokens:     int(a.Usage.OutputTokens),
	}, nil
}

func anthropicStop(reason anthropic.StopReason) abi.StopReason {
	switch reason {
	case "":
		return ""
	case anthropic.StopReasonEndTurn, anthropic.StopReasonStopSequence:
		return abi.StopEnd
	case anthropic.StopReasonMaxTokens, anthropic.StopReasonModelContextWindowExceeded:
		return abi.StopLength
	case anthropic.StopReasonRefusal:
		return abi.StopRefusal
	}
	return abi.StopOther
}
