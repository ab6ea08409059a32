package abi

import (
	"errors"
	"fmt"
)

// ModelRequest is the request of model.complete. It needs the capability
// model.
type ModelRequest struct {
	// Model is an alias of the operator's configuration. Default: the model
	// the operator chose for plugins.
	Model  string `json:"model,omitempty"`
	System string `json:"system,omitempty"`
	// Prompt is what the user says. Either it or Messages is given.
	Prompt string `json:"prompt,omitempty"`
	// Messages is a whole conversation, oldest first, of at most
	// [MaxRequestItems].
	Messages []ModelMessage `json:"messages,omitempty"`
	// MaxTokens bounds the answer. 0 leaves it to the host.
	MaxTokens int `json:"max_tokens,omitempty"`
}

// ModelMessage is one message of a [ModelRequest]. Role is user or assistant.
type ModelMessage struct {
	Role    Role   `json:"role"`
	Content string `json:"content"`
}

// Check says what is wrong with the request itself, as an [*Error] of
// CodeUsage, or nil. Whether the model exists is for the host to say.
func (r *ModelRequest) Check() error {
	switch {
	case (r.Prompt == "") == (len(r.Messages) == 0):
		return modelUsage(errors.New("give either a prompt or messages"))
	case r.MaxTokens < 0:
		return modelUsage(errors.New("max_tokens: less than nothing"))
	}
	for i, m := range r.Messages {
		if m.Role != RoleUser && m.Role != RoleAssistant {
			return modelUsage(fmt.Errorf("messages[%d]: role %.80q: use user or assistant", i, m.Role))
		}
	}
	return nil
}

func modelUsage(err error) error {
	return &Error{Code: CodeUsage, Message: err.Error(), Err: err}
}

// Conversation is what the model reads after System: Messages, or the one
// message that Prompt stands for.
func (r *ModelRequest) Conversation() []ModelMessage {
	if r.Prompt != "" {
		return []ModelMessage{{Role: RoleUser, Content: r.Prompt}}
	}
	return r.Messages
}

// ModelResponse answers model.complete. Whoever makes something of Text looks
// at StopReason first: only an answer that ended by itself is whole.
type ModelResponse struct {
	// Text is the answer without any thinking of the model. It may be empty.
	Text       string     `json:"text"`
	StopReason StopReason `json:"stop_reason,omitempty"`
	// Model is which model answered, as its provider names it. It may be
	// another than was asked for: gateways route, names stand for versions.
	Model string `json:"model,omitempty"`
	// InputTokens is everything the model was given, what came from or went
	// into a cache included. 0 where the provider does not say.
	InputTokens int `json:"input_tokens"`
	// CacheReadTokens and CacheWriteTokens are the parts of InputTokens that
	// were read from the provider's cache, and written to it.
	CacheReadTokens  int `json:"cache_read_tokens,omitempty"`
	CacheWriteTokens int `json:"cache_write_tokens,omitempty"`
	// OutputTokens is everything the model wrote, thinking included.
	OutputTokens int `json:"output_tokens"`
	// Cost in US dollars; 0 where the host does not know the price.
	Cost float64 `json:"cost,omitempty"`
}

// StopReason is why an answer ended. It is empty where the provider does not
// say. Reasons are only ever added.
type StopReason string

const (
	// StopEnd: the model came to its end.
	StopEnd StopReason = "stop"
	// StopLength: max_tokens or the context window cut the answer off.
	StopLength StopReason = "length"
	// StopRefusal: the model declined, or a filter of the provider broke off.
	StopRefusal StopReason = "refusal"
	// StopOther: anything else, such as a call of a tool nobody offered.
	StopOther StopReason = "other"
)
