package models

import (
	"cmp"
	"errors"

	"github.com/kagewasm/kagewasm/abi"
)

const (
	anthropicURL     = "https://api.anthropic.com"
	anthropicVersion = "2023-06-01"
	// anthropicMaximum bounds answers where nobody else does: this provider
	// must be told.
	anthropicMaximum = 8192
)

type anthropicRequest struct {
	Model     string             `json:"model"`
	MaxTokens int                `json:"max_tokens"`
	System    []anthropicBlock   `json:"system,omitempty"`
	Messages  []anthropicMessage `json:"messages"`
}

type anthropicMessage struct {
	Role    abi.Role         `json:"role"`
	Content []anthropicBlock `json:"content"`
}

type anthropicBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type anthropicResponse struct {
	Type       string
	Model      string
	Content    content
	StopReason string `json:"stop_reason"`
	Usage      struct {
		InputTokens              count `json:"input_tokens"`
		CacheReadInputTokens     count `json:"cache_read_input_tokens"`
		CacheCreationInputTokens count `json:"cache_creation_input_tokens"`
		OutputTokens             count `json:"output_tokens"`
	}
}

// anthropicWire speaks Messages.
func anthropicWire(c Config) wire {
	header := map[string]string{"Anthropic-Version": anthropicVersion}
	if c.Key != "" {
		header["X-Api-Key"] = string(c.Key)
	}
	return wire{
		url: c.base(anthropicURL, "/v1") + "/v1/messages", header: header, answer: anthropicAnswer,
		request: func(r abi.ModelRequest) any {
			req := anthropicRequest{Model: c.Model, MaxTokens: cmp.Or(r.MaxTokens, anthropicMaximum)}
			if r.System != "" {
				req.System = anthropicText(r.System)
			}
			for _, m := range r.Conversation() {
				req.Messages = append(req.Messages, anthropicMessage{m.Role, anthropicText(m.Content)})
			}
			return req
		},
	}
}

func anthropicText(s string) []anthropicBlock { return []anthropicBlock{{Type: "text", Text: s}} }

func anthropicAnswer(body []byte) (abi.ModelResponse, error) {
	var a anthropicResponse
	if err := decode(body, &a); err != nil {
		return abi.ModelResponse{}, err
	}
	if a.Type != "message" {
		return abi.ModelResponse{}, errors.New("no message in it")
	}
	read, written := int(a.Usage.CacheReadInputTokens), int(a.Usage.CacheCreationInputTokens)
	return abi.ModelResponse{
		Text:             string(a.Content),
		StopReason:       anthropicStops.of(a.StopReason),
		Model:            a.Model,
		InputTokens:      int(a.Usage.InputTokens) + read + written,
		CacheReadTokens:  read,
		CacheWriteTokens: written,
		OutputTokens:     int(a.Usage.OutputTokens),
	}, nil
}

var anthropicStops = stops{
	"end_turn": abi.StopEnd, "stop_sequence": abi.StopEnd, "refusal": abi.StopRefusal,
	"max_tokens": abi.StopLength, "model_context_window_exceeded": abi.StopLength,
}
