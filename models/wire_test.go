package models_test

import (
	"context"
	"encoding/json"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/modeltest"
	"github.com/kagewasm/kagewasm/models"
)

const key = "sk-planted-0123456789"

var wires = []modeltest.Wire{modeltest.OpenAI, modeltest.Anthropic, modeltest.Ollama}

// eachWire runs a test once for each wire.
func eachWire(t *testing.T, name string, f func(*testing.T, modeltest.Wire)) {
	t.Helper()
	for _, w := range wires {
		t.Run(path.Join(name, string(w)), func(t *testing.T) { f(t, w) })
	}
}

// config is that of a model at s. It never waits.
func config(s *modeltest.Server, w modeltest.Wire) models.Config {
	return models.Config{
		Provider: models.Provider(w), Model: "small-1", BaseURL: s.URL(w), Key: key,
		Sleep: func(context.Context, time.Duration) error { return nil },
	}
}

func newModel(t *testing.T, c models.Config) abi.Model {
	t.Helper()
	m, err := models.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func ask(t *testing.T, c models.Config) (abi.ModelResponse, error) {
	t.Helper()
	return newModel(t, c).Complete(t.Context(), abi.ModelRequest{Prompt: "Summarize this."})
}

// what an answer cost and who gave it is in the
// answer, counted the same whoever the provider is.
func TestAnswer(t *testing.T) {
	features.Proves(t, "K14", "complaint 12")
	price := func(u models.Usage) (float64, bool) {
		return float64(u.Input)*1 + float64(u.CacheRead)*0.1 + float64(u.CacheWrite)*2 + float64(u.Output)*10, true
	}
	eachWire(t, "", func(t *testing.T, w modeltest.Wire) {
		s := modeltest.New(t, modeltest.Answer{
			Text: "## Goal\nShip <it>.", Thinking: "hm, let me see", Model: "small-1-20260101",
			Input: 1000, CacheRead: 700, CacheWrite: 100, Output: 50,
		})
		c := config(s, w)
		c.Price = price
		got, err := ask(t, c)
		if err != nil {
			t.Fatal(err)
		}
		want := abi.ModelResponse{
			Text: "## Goal\nShip <it>.", StopReason: abi.StopEnd, Model: "small-1-20260101",
			InputTokens: 1000, CacheReadTokens: 700, CacheWriteTokens: 100, OutputTokens: 50,
			Cost: 200 + 70 + 200 + 500,
		}
		if w == modeltest.Ollama { // has no cache that it would speak of
			want.CacheReadTokens, want.CacheWriteTokens, want.Cost = 0, 0, 1000+500
		}
		if got != want {
			t.Errorf("%+v\nwant %+v", got, want)
		}
	})
}

func TestUnknownPriceCostsNothing(t *testing.T) {
	c := config(modeltest.New(t), modeltest.OpenAI)
	c.Price = func(models.Usage) (float64, bool) { return 99, false }
	if got, err := ask(t, c); err != nil || got.Cost != 0 {
		t.Errorf("%+v, %v; want no cost", got, err)
	}
}

func TestRequestOnTheWire(t *testing.T) {
	r := abi.ModelRequest{
		Model: "an alias, which is for a set", System: "Be brief.", MaxTokens: 77,
		Messages: []abi.ModelMessage{
			{Role: abi.RoleUser, Content: "one"}, {Role: abi.RoleAssistant, Content: "two"},
			{Role: abi.RoleUser, Content: "three"}, {Role: abi.RoleUser, Content: "four <&>"},
		},
	}
	eachWire(t, "", func(t *testing.T, w modeltest.Wire) {
		s := modeltest.New(t)
		c := config(s, w)
		c.Headers = map[string]string{"X-Team": "compaction"}
		if _, err := newModel(t, c).Complete(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		got := s.Requests()[0]
		if got.Model != "small-1" || got.System != r.System || got.MaxTokens != 77 ||
			got.Header.Get("X-Team") != "compaction" {
			t.Errorf("%+v", got)
		}
		if len(got.Messages) != 4 || got.Messages[1] != r.Messages[1] || got.Messages[3] != r.Messages[3] {
			t.Errorf("messages %+v", got.Messages)
		}
		auth := got.Header.Get("Authorization") + got.Header.Get("X-Api-Key")
		if strings.TrimPrefix(auth, "Bearer ") != key {
			t.Errorf("key sent as %q", auth)
		}
	})
}

// num_ctx is set on the server, and Ollama is told not to drop
// what does not fit without a word.
func TestOllamaContextWindow(t *testing.T) {
	features.Proves(t, "A7")
	s := modeltest.New(t)
	c := config(s, modeltest.Ollama)
	c.NumCtx = 65536
	if _, err := ask(t, c); err != nil {
		t.Fatal(err)
	}
	got := s.Requests()[0]
	if got.NumCtx != 65536 {
		t.Errorf("num_ctx %d", got.NumCtx)
	}
	var doc map[string]any
	if err := json.Unmarshal(got.Body, &doc); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"truncate", "shift", "stream"} {
		t.Run(name, func(t *testing.T) {
			if doc[name] != false {
				t.Errorf("%s is %v, want false", name, doc[name])
			}
		})
	}
	c.NumCtx = 0
	if _, err := ask(t, c); err != nil {
		t.Fatal(err)
	}
	if got := s.Requests()[1]; strings.Contains(string(got.Body), "num_ctx") {
		t.Errorf("num_ctx is sent where none is configured: %s", got.Body)
	}
}

func TestStopReasons(t *testing.T) {
	for _, tc := range []struct {
		why    string
		answer modeltest.Answer
		text   string
		want   abi.StopReason
		but    modeltest.Wire // has no such thing
	}{
		{"cut off", modeltest.Answer{Text: "half a sum", Stop: abi.StopLength}, "half a sum", abi.StopLength, ""},
		{"a filter", modeltest.Answer{Text: "I", Stop: abi.StopRefusal}, "I", abi.StopRefusal, modeltest.Ollama},
		{"a tool that nobody offered", modeltest.Answer{None: true, Stop: abi.StopOther}, "", abi.StopOther, ""},
		{"an empty answer was paid for and is no error", modeltest.Answer{None: true}, "", abi.StopEnd, ""},
		{"thinking that ate all there was", modeltest.Answer{None: true, Thinking: "hm", Stop: abi.StopLength},
			"", abi.StopLength, ""},
	} {
		t.Run(tc.why, func(t *testing.T) {
			eachWire(t, tc.why, func(t *testing.T, w modeltest.Wire) {
				if w == tc.but {
					return
				}
				got, err := ask(t, config(modeltest.New(t, tc.answer), w))
				if err != nil || got.Text != tc.text || got.StopReason != tc.want || got.InputTokens == 0 {
					t.Errorf("%+v, %v; want %q, %s", got, err, tc.text, tc.want)
				}
			})
		})
	}
}

func TestStopReasonsOfOneWire(t *testing.T) {
	anthropic := func(reason string) string {
		return `{"id":"m","type":"message","role":"assistant","model":"x","content":[{"type":"text","text":"t"}],` +
			`"stop_reason":"` + reason + `","usage":{"input_tokens":1,"output_tokens":1}}`
	}
	openai := func(reason string) string {
		return `{"object":"chat.completion","model":"x","choices":[{"index":0,` +
			`"message":{"role":"assistant","content":"t"},"finish_reason":` + reason + `}]}`
	}
	for _, tc := range []struct {
		wire modeltest.Wire
		body string
		want abi.StopReason
	}{
		{modeltest.Anthropic, anthropic("stop_sequence"), abi.StopEnd},
		{modeltest.Anthropic, anthropic("model_context_window_exceeded"), abi.StopLength},
		{modeltest.Anthropic, anthropic("pause_turn"), abi.StopOther},
		{modeltest.OpenAI, openai(`"error"`), abi.StopOther}, // OpenRouter: an upstream broke off
		{modeltest.OpenAI, openai(`null`), ""},
		{modeltest.Ollama, `{"model":"x","message":{"role":"assistant","content":"t"},"done":true}`, ""},
	} {
		t.Run(string(tc.wire)+"/"+string(tc.want), func(t *testing.T) {
			got, err := ask(t, config(modeltest.New(t, modeltest.Answer{Body: tc.body}), tc.wire))
			if err != nil || got.StopReason != tc.want || got.Text != "t" {
				t.Errorf("%s: %+v, %v", tc.body, got, err)
			}
		})
	}
}

// A refusal is not an answer: its words never stand where a summary would.
func TestRefusal(t *testing.T) {
	got, err := ask(t, config(modeltest.New(t, modeltest.Answer{Refusal: "I'm sorry, I can't."}), modeltest.OpenAI))
	if err != nil || got.Text != "" || got.StopReason != abi.StopRefusal {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestThinkingInTheText(t *testing.T) {
	for in, want := range map[string]string{
		"<think>\nhm\n</think>\n\n# Goal":       "# Goal",
		"\n<think></think>\n# Goal":             "# Goal",
		"<think>cut off in the middle of":       "",
		"# Goal\nthe tag <think>x</think> here": "# Goal\nthe tag <think>x</think> here",
	} {
		for _, w := range []modeltest.Wire{modeltest.OpenAI, modeltest.Ollama} {
			t.Run(string(w)+"/"+in, func(t *testing.T) {
				got, err := ask(t, config(modeltest.New(t, modeltest.Answer{Text: in}), w))
				if err != nil || got.Text != want {
					t.Errorf("%q became %q, %v; want %q", in, got.Text, err, want)
				}
			})
		}
	}
}

func TestMaxOutput(t *testing.T) {
	for _, tc := range []struct {
		why              string
		wire             modeltest.Wire
		configured, asks int
		want             int
	}{
		{"the provider's own", modeltest.OpenAI, 0, 0, 0},
		{"Anthropic must be told", modeltest.Anthropic, 0, 0, 8192},
		{"the default", modeltest.OpenAI, 500, 0, 500},
		{"as asked", modeltest.Anthropic, 500, 20, 20},
		{"no more than configured", modeltest.Ollama, 500, 9000, 500},
		{"as asked where no limit is configured", modeltest.Anthropic, 0, 100_000, 100_000},
	} {
		t.Run(tc.why, func(t *testing.T) {
			s := modeltest.New(t)
			c := config(s, tc.wire)
			c.MaxOutput = tc.configured
			_, err := newModel(t, c).Complete(t.Context(), abi.ModelRequest{Prompt: "x", MaxTokens: tc.asks})
			if err != nil || s.Requests()[0].MaxTokens != tc.want {
				t.Errorf("%v, %+v; want %d", err, s.Requests(), tc.want)
			}
		})
	}
}

func TestImpossibleRequests(t *testing.T) {
	s := modeltest.New(t)
	m := newModel(t, config(s, modeltest.OpenAI))
	for why, r := range map[string]abi.ModelRequest{
		"nothing asked": {},
		"asked twice":   {Prompt: "x", Messages: []abi.ModelMessage{{Role: abi.RoleUser, Content: "y"}}},
		"a system role": {Messages: []abi.ModelMessage{{Role: abi.RoleSystem, Content: "y"}}},
		"less than 0":   {Prompt: "x", MaxTokens: -1},
	} {
		t.Run(why, func(t *testing.T) {
			if _, err := m.Complete(t.Context(), r); abi.CodeOf(err) != abi.CodeUsage {
				t.Error(err)
			}
		})
	}
	if n := len(s.Requests()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

func request(prompt string) abi.ModelRequest { return abi.ModelRequest{Prompt: prompt} }
