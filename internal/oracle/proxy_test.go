package oracle_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	openaioption "github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/proxy"
	"github.com/kagewasm/kagewasm/tokens"
)

// provider answers the text "ok" in the form of each wire, and refuses what has to do with
// compactions.
func provider(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	events := map[string][]string{
		"/v1/messages": {`{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","content":[],"usage":{"input_tokens":9,"output_tokens":1}}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"ok"}}`,
			`{"type":"content_block_stop","index":0}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}`,
			`{"type":"message_stop"}`},
		"/v1/chat/completions": {`{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"ok"},"finish_reason":"stop"}]}`},
		"/v1/responses": {`{"type":"response.created","sequence_number":0,"response":{"id":"r","output":[]}}`,
			`{"type":"response.output_text.delta","sequence_number":1,"output_index":0,"delta":"ok"}`,
			`{"type":"response.completed","sequence_number":2,"response":{"id":"r","status":"completed","output":[` + saidOK +
				`]}}`},
	}
	whole := map[string]string{
		"/v1/messages":         `{"id":"m","type":"message","role":"assistant","content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn","usage":{"input_tokens":9,"output_tokens":1}}`,
		"/v1/chat/completions": `{"id":"c","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}]}`,
		"/v1/responses": `{"id":"r","object":"response","status":"completed","output":[` + saidOK +
			`],"usage":{"input_tokens":9,"output_tokens":1}}`,
	}
	switch {
	case strings.Contains(string(body), `"compaction"`), strings.Contains(string(body), "context_management"),
		whole[r.URL.Path] == "":
		http.Error(w, `{"error":{"message":"Extra inputs are not permitted"}}`, http.StatusBadRequest)
	case strings.Contains(string(body), `"stream":true`):
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range events[r.URL.Path] {
			var named struct{ Type string }
			_ = json.Unmarshal([]byte(e), &named)
			fmt.Fprintf(w, "event: %s\ndata: %s\n\n", named.Type, e)
		}
	default:
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, whole[r.URL.Path])
	}
}

const saidOK = `{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"ok","annotations":[]}]}`

// through starts a proxy for models with a window of 12,000 tokens before the provider.
func through(t *testing.T) string {
	t.Helper()
	up := httptest.NewServer(http.HandlerFunc(provider))
	t.Cleanup(up.Close)
	return before(t, up.URL)
}

// before starts a proxy before an upstream.
func before(t *testing.T, upstream string) string {
	t.Helper()
	address, _ := url.Parse(upstream)
	counter, err := tokens.New(tokens.O200k, tokens.Options{})
	if err != nil {
		t.Fatal(err)
	}
	compactor, err := kagewasm.New(kagewasm.Options{Counter: counter, Policy: proxy.Policy(kagewasm.Policy{})})
	if err != nil {
		t.Fatal(err)
	}
	window := 12_000
	p, err := proxy.New(proxy.Options{Upstream: address, Engine: func(model string) (proxy.Engine, error) {
		m := tokens.Default().Resolve(model)
		m.ContextWindow = &window
		return proxy.Engine{Compactor: compactor, Counter: counter, Model: m}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(p)
	t.Cleanup(func() {
		s.Close()
		p.Close()
	})
	return s.URL
}

func said(k int) string {
	return strings.Repeat(fmt.Sprintf("undefined: handler%d in src/pkg%d\n", k, k), 40)
}

// TestProxyWithOpenAI: openai-go through the proxy, streamed and not, beyond the window, and
// asking for compactions that its provider does not have.
func TestProxyWithOpenAI(t *testing.T) {
	client := openai.NewClient(openaioption.WithBaseURL(through(t)+"/v1"), openaioption.WithAPIKey(key),
		openaioption.WithMaxRetries(0))
	chat := openai.ChatCompletionNewParams{Model: "gpt-4.1",
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("fix it")}}
	for k := range 60 {
		chat.Messages = append(chat.Messages, openai.AssistantMessage(said(k)), openai.UserMessage("go on"))
	}
	a, err := client.Chat.Completions.New(t.Context(), chat)
	if err != nil || a.Choices[0].Message.Content != "ok" {
		t.Errorf("%+v, %v", a, err)
	}
	text := ""
	stream := client.Chat.Completions.NewStreaming(t.Context(), chat)
	for stream.Next() {
		text += stream.Current().Choices[0].Delta.Content
	}
	if stream.Err() != nil || text != "ok" {
		t.Errorf("%q, %v", text, stream.Err())
	}

	items := func(what string) (list responses.ResponseInputParam) {
		list = append(list, responses.ResponseInputItemParamOfMessage("fix "+what, responses.EasyInputMessageRoleUser))
		for k := range 60 {
			id := fmt.Sprint("call_", k)
			out := responses.ResponseInputItemParamOfFunctionCallOutput(said(k))
			out.OfFunctionCallOutput.CallID = openai.String(id)
			list = append(list, responses.ResponseInputItemParamOfFunctionCall("{}", id, "run"), out)
		}
		return list
	}
	request := func(what string) responses.ResponseNewParams {
		return responses.ResponseNewParams{Model: "gpt-5",
			Input: responses.ResponseNewParamsInputUnion{OfInputItemList: items(what)},
			ContextManagement: []responses.ResponseNewParamsContextManagement{{Type: "compaction",
				CompactThreshold: openai.Int(5000)}}}
	}
	r, err := client.Responses.New(t.Context(), request("this"))
	if err != nil || len(r.Output) != 2 || r.Output[0].Type != "compaction" || r.OutputText() != "ok" {
		t.Errorf("%+v, %v", r, err)
	}
	var types []string
	streamed := client.Responses.NewStreaming(t.Context(), request("that"))
	for streamed.Next() {
		if e := streamed.Current(); e.Type == "response.output_item.done" {
			types = append(types, e.Item.Type)
		} else if e.Type == "response.completed" {
			types = append(types, e.Response.Output[0].Type)
		}
	}
	if streamed.Err() != nil || strings.Join(types, " ") != "compaction compaction" {
		t.Errorf("%v, %v", types, streamed.Err())
	}
	c, err := client.Responses.Compact(t.Context(), responses.ResponseCompactParams{Model: "gpt-5",
		Input: responses.ResponseCompactParamsInputUnion{OfResponseInputItemArray: items("all")}})
	if err != nil || len(c.Output) != 1 || c.Output[0].Type != "compaction" {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestProxyWithAnthropic: anthropic-sdk-go likewise, with the edit that compacts.
func TestProxyWithAnthropic(t *testing.T) {
	client := anthropic.NewClient(anthropicoption.WithBaseURL(through(t)), anthropicoption.WithAPIKey(key),
		anthropicoption.WithMaxRetries(0))
	request := func(what string) anthropic.BetaMessageNewParams {
		p := anthropic.BetaMessageNewParams{Model: "claude-sonnet-4-5", MaxTokens: 100,
			Betas: []anthropic.AnthropicBeta{"compact-2026-01-12"}}
		p.Messages = append(p.Messages, anthropic.NewBetaUserMessage(anthropic.NewBetaTextBlock("fix "+what)))
		for k := range 300 {
			id := fmt.Sprint("toolu_", k)
			p.Messages = append(p.Messages,
				anthropic.BetaMessageParam{Role: "assistant",
					Content: []anthropic.BetaContentBlockParamUnion{anthropic.NewBetaToolUseBlock(id, map[string]any{}, "run")}},
				anthropic.NewBetaUserMessage(anthropic.NewBetaToolResultBlock(id, said(k), false)))
		}
		p.ContextManagement.Edits = []anthropic.BetaContextManagementConfigEditUnionParam{{
			OfCompact20260112: &anthropic.BetaCompact20260112EditParam{
				Trigger: anthropic.BetaInputTokensTriggerParam{Value: 50_000}}}}
		return p
	}
	m, err := client.Beta.Messages.New(t.Context(), request("this"))
	if err != nil || len(m.Content) != 2 || m.Content[0].Type != "compaction" || m.Content[1].Text != "ok" {
		t.Errorf("%+v, %v", m, err)
	}
	stream := client.Beta.Messages.NewStreaming(t.Context(), request("that"))
	var whole anthropic.BetaMessage
	for stream.Next() {
		if err := whole.Accumulate(stream.Current()); err != nil {
			t.Fatal(err)
		}
	}
	if stream.Err() != nil || len(whole.Content) != 2 || whole.Content[0].Type != "compaction" ||
		whole.Content[1].Text != "ok" {
		t.Errorf("%+v, %v", whole.Content, stream.Err())
	}
}
