package modeltest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/modeltest"
)

var paths = map[modeltest.Wire]string{
	modeltest.OpenAI: "/chat/completions", modeltest.Anthropic: "/v1/messages", modeltest.Ollama: "/api/chat",
}

func post(t *testing.T, s *modeltest.Server, w modeltest.Wire, body string) (status int, answer string, err error) {
	t.Helper()
	resp, err := http.Post(s.URL(w)+paths[w], "application/json", strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b), err
}

func TestAnswersInTurn(t *testing.T) {
	s := modeltest.New(t,
		modeltest.Answer{Status: 529},
		modeltest.TooLong(9000, 8192),
		modeltest.Answer{Body: "<html>", Status: 502},
		modeltest.Answer{Text: "the last"},
	)
	for w := range paths {
		s := modeltest.New(t, modeltest.Answer{Text: "about x", Stop: abi.StopLength})
		if status, got, err := post(t, s, w, `{"model":"m","messages":[]}`); err != nil || status != 200 ||
			!strings.Contains(got, `"about x"`) {
			t.Errorf("%s: %d %s, %v", w, status, got, err)
		}
	}
	for i, want := range []struct {
		status int
		body   string
	}{{529, "overloaded_error"}, {400, "9000 tokens > 8192"}, {502, "<html>"}, {200, "the last"}, {200, "the last"}} {
		t.Run(fmt.Sprintf("request %d: %d", i, want.status), func(t *testing.T) {
			status, got, err := post(t, s, modeltest.Anthropic, `{"model":"m","messages":[]}`)
			if err != nil || status != want.status || !strings.Contains(got, want.body) {
				t.Errorf("request %d: %d %s, %v; want %d with %s", i, status, got, err, want.status, want.body)
			}
		})
	}
}

func TestRequestsAreReadFromEachWire(t *testing.T) {
	for w, body := range map[modeltest.Wire]string{
		modeltest.OpenAI: `{"model":"m","max_completion_tokens":7,"messages":[{"role":"system","content":"be brief"},` +
			`{"role":"user","content":"hi"}]}`,
		modeltest.Anthropic: `{"model":"m","max_tokens":7,"system":[{"type":"text","text":"be brief"}],` +
			`"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}`,
		modeltest.Ollama: `{"model":"m","options":{"num_predict":7,"num_ctx":99},"messages":[{"role":"system",` +
			`"content":"be brief"},{"role":"user","content":"hi"}]}`,
	} {
		t.Run(string(w), func(t *testing.T) {
			s := modeltest.New(t)
			if status, got, err := post(t, s, w, body); err != nil || status != 200 {
				t.Fatalf("%s: %d %s, %v", w, status, got, err)
			}
			r := s.Requests()[0]
			if r.Wire != w || r.Model != "m" || r.System != "be brief" || r.MaxTokens != 7 || len(r.Messages) != 1 ||
				r.Messages[0].Content != "hi" {
				t.Errorf("%s: %+v", w, r)
			}
			if want := map[bool]int{true: 99}[w == modeltest.Ollama]; r.NumCtx != want {
				t.Errorf("%s: num_ctx %d, want %d", w, r.NumCtx, want)
			}
		})
	}
}

func TestBrokenConnections(t *testing.T) {
	s := modeltest.New(t, modeltest.Answer{Reset: true})
	if _, _, err := post(t, s, modeltest.OpenAI, `{}`); err == nil {
		t.Error("no error where the connection was reset")
	}
	s = modeltest.New(t, modeltest.Answer{Cut: true})
	if status, _, err := post(t, s, modeltest.OpenAI, `{}`); status != 200 || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a body cut off: %d, %v", status, err)
	}
}

func TestScript(t *testing.T) {
	failure := errors.New("no")
	m := modeltest.Script(modeltest.Answer{Err: failure}, modeltest.Answer{Text: "yes", Input: 5},
		modeltest.Answer{Hang: true})
	if _, err := m.Complete(t.Context(), abi.ModelRequest{Prompt: "a"}); !errors.Is(err, failure) {
		t.Errorf("error %v", err)
	}
	if got, err := m.Complete(t.Context(), abi.ModelRequest{Prompt: "b"}); err != nil || got.Text != "yes" ||
		got.InputTokens != 5 || got.StopReason != abi.StopEnd {
		t.Errorf("%+v, %v", got, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := m.Complete(ctx, abi.ModelRequest{Prompt: "c"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a hanging model: %v", err)
	}
	if got := m.Requests(); len(got) != 3 || got[1].Messages[0].Content != "b" {
		t.Errorf("requests %+v", got)
	}
}
