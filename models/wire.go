package models

import (
	"cmp"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

// wire is how a provider is asked and how it answers.
type wire struct {
	url string
	// header is what this provider wants beside a content type: key, version.
	header map[string]string
	// request returns what is sent, as JSON.
	request func(abi.ModelRequest) any
	// answer reads the body of a response whose status says success.
	answer func(body []byte) (abi.ModelResponse, error)
}

var wires = map[Provider]func(Config) wire{OpenAI: openaiWire, Anthropic: anthropicWire, Ollama: ollamaWire}

// bearer is the header that OpenAI and Ollama take a key in.
func bearer(k Key) map[string]string {
	if k == "" {
		return nil
	}
	return map[string]string{"Authorization": "Bearer " + string(k)}
}

// withSystem returns the conversation with a message of its own for System before it.
func withSystem(r abi.ModelRequest) []abi.ModelMessage {
	if r.System == "" {
		return r.Conversation()
	}
	return append([]abi.ModelMessage{{Role: abi.RoleSystem, Content: r.System}}, r.Conversation()...)
}

// decode reads an answer. A field of another type than expected counts as
// missing: what an answer says is worth more than its figures.
func decode(body []byte, into any) error {
	err := json.Unmarshal(body, into)
	if mistyped, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && mistyped.Field != "" {
		return nil
	}
	return err
}

// content is the text of an answer: a string, or a list of blocks of which
// those of type text count. Others are thinking.
type content string

func (c *content) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, (*string)(c)) == nil {
		return nil
	}
	var blocks []struct{ Type, Text string }
	err := json.Unmarshal(b, &blocks)
	for _, block := range blocks {
		if block.Type == "text" {
			*c += content(block.Text)
		}
	}
	return err
}

// count is a number of tokens. It is 0 where the provider sends something else.
type count int

func (n *count) UnmarshalJSON(b []byte) error {
	if f, err := strconv.ParseFloat(strings.Trim(string(b), `"`), 64); err == nil && f >= 0 && f < 1<<53 {
		*n = count(f)
	}
	return nil
}

// chatStop reads the words that Chat Completions and Ollama share. Ollama's
// "load", of a model that was loaded and asked nothing, is another.
var chatStops = stops{"stop": abi.StopEnd, "length": abi.StopLength, "content_filter": abi.StopRefusal}

// stops are a provider's words for why an answer ended.
type stops map[string]abi.StopReason

// of is the reason by a provider's word; where it says nothing, neither does this.
func (s stops) of(word string) abi.StopReason {
	if word == "" {
		return ""
	}
	return cmp.Or(s[word], abi.StopOther)
}

// withoutThinking drops a block of thinking at the beginning of an answer.
// Servers that do not know a model's format leave it there. A block that does
// not end was cut off: nothing of it is the answer.
func withoutThinking(text content) string {
	const begin, end = "<think>", "</think>"
	rest, ok := strings.CutPrefix(strings.TrimLeft(string(text), " \t\r\n"), begin)
	if !ok {
		return string(text)
	}
	_, answer, _ := strings.Cut(rest, end)
	return strings.TrimLeft(answer, " \t\r\n")
}
