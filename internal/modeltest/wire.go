package modeltest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/plainjson"
)

// Wire is a provider's protocol.
type Wire string

const (
	OpenAI    Wire = "openai"    // POST /v1/chat/completions
	Anthropic Wire = "anthropic" // POST /v1/messages
	Ollama    Wire = "ollama"    // POST /api/chat
)

var paths = map[string]Wire{
	"/v1/chat/completions": OpenAI,
	"/v1/messages":         Anthropic,
	"/api/chat":            Ollama,
}

type object = map[string]any

// parse reads a request of any wire.
func parse(method, path string, body []byte) (Request, error) {
	r := Request{Wire: paths[path]}
	if r.Wire == "" || method != http.MethodPost {
		return r, fmt.Errorf("nothing answers %s %s", method, path)
	}
	var doc struct {
		Model               string
		System              json.RawMessage
		MaxTokens           int `json:"max_tokens"`
		MaxCompletionTokens int `json:"max_completion_tokens"`
		Options             struct {
			NumCtx     int `json:"num_ctx"`
			NumPredict int `json:"num_predict"`
		}
		Messages []struct {
			Role    abi.Role
			Content json.RawMessage
		}
	}
	if err := json.Unmarshal(body, &doc); err != nil {
		return r, err
	}
	r.Model = doc.Model
	r.System = text(doc.System)
	r.MaxTokens = doc.MaxTokens + doc.MaxCompletionTokens + doc.Options.NumPredict
	r.NumCtx = doc.Options.NumCtx
	for _, m := range doc.Messages {
		if m.Role == abi.RoleSystem {
			r.System += text(m.Content)
			continue
		}
		r.Messages = append(r.Messages, abi.ModelMessage{Role: m.Role, Content: text(m.Content)})
	}
	return r, nil
}

// text is a content: a string, or a list of blocks with a text each.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var blocks []struct{ Text string }
	if json.Unmarshal(raw, &blocks) == nil {
		for _, b := range blocks {
			s += b.Text
		}
	}
	return s
}

// encode is the response of the wire that r came by.
func encode(r Request, a Answer) (int, []byte) {
	status := a.Status
	status = cmp.Or(status, http.StatusOK)
	if a.Body != "" {
		return status, []byte(a.Body)
	}
	var doc object
	switch {
	case status >= 400:
		doc = failure(r.Wire, status, a)
	case r.Wire == Anthropic:
		doc = anthropicAnswer(r, a)
	case r.Wire == Ollama:
		doc = ollamaAnswer(r, a)
	default:
		doc = openaiAnswer(r, a)
	}
	answer, err := plainjson.Marshal(doc)
	if err != nil {
		panic(err) // strings and numbers
	}
	return status, append(answer, '\n')
}
