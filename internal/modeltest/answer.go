package modeltest

import (
	"cmp"
	"fmt"
	"net/http"
	"time"

	"github.com/kagewasm/kagewasm/abi"
)

// Answer is what the provider does with one request. All fields are optional,
// and go together where that makes sense.
type Answer struct {
	// Text is the answer. Default: "ok"; None asks for an empty one.
	Text string
	None bool
	// Thinking is sent the way the wire sends it, apart from Text.
	Thinking string
	// Refusal is what OpenAI's wire sends in place of a text.
	Refusal string
	// Stop is why the answer ended. Default: abi.StopEnd.
	Stop abi.StopReason
	// Model is who says to have answered. Default: who was asked.
	Model string
	// Input counts all input tokens, CacheRead and CacheWrite among them;
	// each wire gets them the way it counts. Default of Input and Output: one
	// for every 4 bytes.
	Input, CacheRead, CacheWrite, Output int

	// Status of the response. Default: 200. From 400 on the body is an error
	// as the wire has them, with Error as its message and Code as its code or
	// type. Both have fitting defaults.
	Status      int
	Error, Code string
	// Header is added to the response.
	Header http.Header
	// Body replaces the body, whatever the wire. ContentType is that of the
	// body. Default: application/json.
	Body, ContentType string

	// Delay is waited before anything is sent, unless the client leaves.
	Delay time.Duration
	// Hang never answers. The handler ends with the client, or the test.
	Hang bool
	// Reset breaks the connection off in place of an answer; Cut does so in
	// the middle of the body.
	Reset, Cut bool

	// Err is what a [Model] returns in place of a response. Servers do not
	// know it.
	Err error

	tooLong [2]int
}

// TooLong refuses the request because its tokens exceed the limit, in the
// words of the wire's provider.
func TooLong(tokens, limit int) Answer {
	return Answer{Status: http.StatusBadRequest, tooLong: [2]int{tokens, limit}}
}

func (a Answer) text() string {
	if a.None || a.Refusal != "" {
		return ""
	}
	return cmp.Or(a.Text, "ok")
}

func (a Answer) response(r abi.ModelRequest) abi.ModelResponse {
	return abi.ModelResponse{
		Text:             a.text(),
		StopReason:       cmp.Or(a.Stop, abi.StopEnd),
		Model:            cmp.Or(a.Model, r.Model, "modeltest"),
		InputTokens:      cmp.Or(a.Input, estimate(r)),
		CacheReadTokens:  a.CacheRead,
		CacheWriteTokens: a.CacheWrite,
		OutputTokens:     cmp.Or(a.Output, (len(a.text())+len(a.Thinking)+3)/4),
	}
}

func estimate(r abi.ModelRequest) int {
	n := len(r.System)
	for _, m := range r.Conversation() {
		n += len(m.Content)
	}
	return (n + 3) / 4
}

// message is the text of an error.
func (a Answer) message(w Wire) string {
	switch tokens, limit := a.tooLong[0], a.tooLong[1]; {
	case a.Error != "":
		return a.Error
	case limit == 0:
		return fmt.Sprintf("modeltest answers with status %d", a.Status)
	case w == Anthropic:
		return fmt.Sprintf("prompt is too long: %d tokens > %d maximum", tokens, limit)
	case w == Ollama:
		return fmt.Sprintf("The prompt is too long: %d, model maximum context length: %d", tokens, limit)
	default:
		return fmt.Sprintf("This model's maximum context length is %d tokens. However, your messages resulted in "+
			"%d tokens. Please reduce the length of the messages.", limit, tokens)
	}
}
