package abi

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

// ModelResponse answers model.complete.
type ModelResponse struct {
	Text         string `json:"text"`
	InputTokens  int    `json:"input_tokens"`
	OutputTokens int    `json:"output_tokens"`
	// Cost in US dollars; 0 where the host does not know the price.
	Cost float64 `json:"cost,omitempty"`
	// Model is the name of the model that answered, where the host knows it.
	Model string `json:"model,omitempty"`
	// StopReason is why the answer ends; empty where the host does not know.
	StopReason StopReason `json:"stop_reason,omitempty"`
}

// StopReason is why a model stopped writing.
type StopReason string

const (
	StopEnd    StopReason = "stop"   // it had said what it had to say
	StopLength StopReason = "length" // it ran into the limit: the answer is cut off
)
