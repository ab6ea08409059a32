package oracle_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	openaioption "github.com/openai/openai-go/v3/option"
)

// moody is the provider, but for who asks it to fail, to be busy (once on each path), or to be slow (until the client
// leaves). It answers an image with what it is.
type moody struct {
	mu   sync.Mutex
	busy map[string]bool
	left chan bool
}

func (m *moody) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	asks := func(what string) bool { return strings.Contains(string(body), what) }
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	m.mu.Lock()
	was := m.busy[r.URL.Path]
	m.busy[r.URL.Path] = was || asks("be busy")
	m.mu.Unlock()
	switch {
	case asks("please fail"), asks("look at this") && !asks("iVBORw0KGgo"):
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"type":"error","error":{"type":"invalid_request_error","message":"you asked for it"}}`)
	case asks("be busy") && !was:
		w.Header().Set("Retry-After-Ms", "1")
		http.Error(w, `{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}`, 429)
	case asks("be slow"):
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "event: message_start\n"+
			`data: {"type":"message_start","message":{"id":"m","content":[]},"id":"c","object":"chat.completion.chunk",`+
			`"choices":[{"index":0,"delta":{"content":"a"}}]}`+"\n\n")
		w.(http.Flusher).Flush()
		select {
		case <-r.Context().Done():
			m.left <- true
		case <-time.After(time.Minute):
		}
	default:
		provider(w, r)
	}
}

// ended fails where a call goes on though its client has left.
func (m *moody) ended(t *testing.T) {
	t.Helper()
	select {
	case <-m.left:
	case <-time.After(30 * time.Second):
		t.Error("the call goes on though the client has left")
	}
}

const picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// moodyThrough starts a proxy before a moody provider.
func moodyThrough(t *testing.T) (m *moody, url string) {
	t.Helper()
	m = &moody{busy: make(map[string]bool), left: make(chan bool, 9)}
	up := httptest.NewServer(m)
	t.Cleanup(up.Close)
	return m, before(t, up.URL)
}

// TestOpenAIFaults: openai-go sees an error, repeats what was refused for a moment, shows images, and ends a stream,
// through the proxy as without it.
func TestOpenAIFaults(t *testing.T) {
	m, url := moodyThrough(t)
	client := openai.NewClient(openaioption.WithBaseURL(url+"/v1"), openaioption.WithAPIKey(key),
		openaioption.WithMaxRetries(1))
	ask := func(parts ...openai.ChatCompletionContentPartUnionParam) openai.ChatCompletionNewParams {
		return openai.ChatCompletionNewParams{Model: "gpt-4.1",
			Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(parts)}}
	}
	text := openai.TextContentPart
	_, err := client.Chat.Completions.New(t.Context(), ask(text("please fail")))
	if e, ok := errors.AsType[*openai.Error](err); !ok || e.StatusCode != 400 ||
		!strings.Contains(e.RawJSON(), "you asked") {
		t.Errorf("an error: %v", err)
	}
	image := openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{
		URL: "data:image/png;base64," + picture})
	for what, request := range map[string]openai.ChatCompletionNewParams{"busy": ask(text("be busy")),
		"an image": ask(text("look at this"), image)} {
		if a, err := client.Chat.Completions.New(t.Context(), request); err != nil || a.Choices[0].Message.Content != "ok" {
			t.Errorf("%s: %+v, %v", what, a, err)
		}
	}
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	stream := client.Chat.Completions.NewStreaming(ctx, ask(text("be slow")))
	if !stream.Next() {
		t.Error(stream.Err())
	}
	leave()
	m.ended(t)
}

// TestAnthropicFaults: anthropic-sdk-go likewise.
func TestAnthropicFaults(t *testing.T) {
	m, url := moodyThrough(t)
	client := anthropic.NewClient(anthropicoption.WithBaseURL(url), anthropicoption.WithAPIKey(key),
		anthropicoption.WithMaxRetries(1))
	ask := func(parts ...anthropic.ContentBlockParamUnion) anthropic.MessageNewParams {
		return anthropic.MessageNewParams{Model: "claude-sonnet-4-5", MaxTokens: 100,
			Messages: []anthropic.MessageParam{anthropic.NewUserMessage(parts...)}}
	}
	text := anthropic.NewTextBlock
	_, err := client.Messages.New(t.Context(), ask(text("please fail")))
	if e, ok := errors.AsType[*anthropic.Error](err); !ok || e.StatusCode != 400 ||
		!strings.Contains(e.RawJSON(), "you asked") {
		t.Errorf("an error: %v", err)
	}
	for what, request := range map[string]anthropic.MessageNewParams{"busy": ask(text("be busy")),
		"an image": ask(text("look at this"), anthropic.NewImageBlockBase64("image/png", picture))} {
		if a, err := client.Messages.New(t.Context(), request); err != nil || a.Content[0].Text != "ok" {
			t.Errorf("%s: %+v, %v", what, a, err)
		}
	}
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	stream := client.Messages.NewStreaming(ctx, ask(text("be slow")))
	if !stream.Next() {
		t.Error(stream.Err())
	}
	leave()
	m.ended(t)
}
