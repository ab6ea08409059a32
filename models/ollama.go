package models

import (
	"errors"

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
	Model           string
	Message         *struct{ Content content }
	DoneReason      string `json:"done_reason"`
	PromptEvalCount count  `json:"prompt_eval_count"`
	EvalCount       count  `json:"eval_count"`
}

// ollamaWire speaks Ollama's own chat.
func ollamaWire(c Config) wire {
	return wire{
		url: c.base(ollamaURL, "/api") + "/api/chat", header: bearer(c.Key), answer: ollamaAnswer,
		request: func(r abi.ModelRequest) any {
			return ollamaRequest{
				Model: c.Model, Messages: withSystem(r),
				Options: ollamaOptions{NumCtx: c.NumCtx, NumPredict: r.MaxTokens},
			}
		},
	}
}

func ollamaAnswer(body []byte) (abi.ModelResponse, error) {
	var a ollamaResponse
	if err := decode(body, &a); err != nil {
		return abi.ModelResponse{}, err
	}
	if a.Message == nil {
		return abi.ModelResponse{}, errors.New("no message in it")
	}
	return abi.ModelResponse{
		Text:         withoutThinking(a.Message.Content),
		StopReason:   chatStops.of(a.DoneReason),
		Model:        a.Model,
		InputTokens:  int(a.PromptEvalCount),
		OutputTokens: int(a.EvalCount),
	}, nil
}
