package models

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/kagewasm/kagewasm/abi"
)

const ollamaURL = "http://127.0.0.1:11434"

// ollamaRequest is a request of /api/chat. Truncate and Shift are Ollama's
// habit of dropping the beginning of what does not fit, before and while it
// answers; both are off, so that it is an error. Older servers know neither.
type ollamaRequest struct {
	Model    string             `json:"model"`
	Messages []abi.ModelMessage `json:"messages"`
	Stream   bool               `json:"stream"`
	Truncate bool               `json:"truncate"`
	Shift    bool               `json:"shift"`
	Options  ollamaOptions      `json:"options"`
}

type ollamaOptions struct {
	NumCtx     int `json:"num_ctx,omitempty"`
	NumPredict int `json:"num_predict,omitempty"`
}

type ollamaResponse struct {
	Model   string `json:"model"`
	Message *struct {
		Content string `json:"content"`
	} `json:"message"`
	DoneReason      string `json:"done_reason"`
	PromptEvalCount int    `json:"prompt_eval_count"`
	EvalCount       int    `json:"eval_count"`
}

// ollamaWire speaks Ollama's native chat.
func ollamaWire(c Config) wire {
	url := c.base(ollamaURL, "/api") + "/api/chat"
	return func(ctx context.Context, x *exchange, r abi.ModelRequest) (abi.ModelResponse, error) {
		body, err := json.Marshal(ollamaRequest{
			Model: c.Model, Messages: ollamaMessages(r),
			Options: ollamaOptions{NumCtx: c.NumCtx, NumPredict: r.MaxTokens},
		})
		if err != nil {
			return abi.ModelResponse{}, err
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
		if err != nil {
			return abi.ModelResponse{}, err
		}
		req.Header.Set("Content-Type", "application/json")
		if c.Key != "" {
			req.Header.Set("Authorization", "Bearer "+string(c.Key))
		}
		if _, err := x.Do(req); err != nil {
			return abi.ModelResponse{}, err
		}
		return ollamaAnswer(x.last)
	}
}

func ollamaMessages(r abi.ModelRequest) []abi.ModelMessage {
	var out []abi.ModelMessage
	if r.System != "" {
		out = append(out, abi.ModelMessage{Role: abi.RoleSystem, Content: r.System})
	}
	return append(out, r.Conversation()...)
}

func ollamaAnswer(r *reply) (abi.ModelResponse, error) {
	if !r.ok() {
		return abi.ModelResponse{}, fmt.Errorf("ollama: status %d", r.status)
	}
	var a ollamaResponse
	if err := json.Unmarshal(r.body, &a); err != nil {
		return abi.ModelResponse{}, err
	}
	if a.Message == nil {
		return abi.ModelResponse{}, errors.New("no message in it")
	}
	return abi.ModelResponse{
		Text:         withoutThinking(a.Message.Content),
		StopReason:   chatStop(a.DoneReason),
		Model:        a.Model,
		InputTokens:  a.PromptEvalCount,
		OutputTokens: a.EvalCount,
	}, nil
}
