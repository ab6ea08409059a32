package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/kagewasm/kagewasm/internal/features"
)

// TestAProxyGoesByAStatedWindow: a provider takes 8,000 tokens of a model of which nobody
// knows the window, and says so with its refusal. The proxy that heard it once keeps to it, in
// that conversation and in the next one of the model, whether it can keep it or not.
func TestAProxyGoesByAStatedWindow(t *testing.T) {
	features.Proves(t, "complaint 4", "N4")
	for name, state := range map[string][]string{"a state folder": nil, "in memory": {"--state", ":memory:"}} {
		t.Run(name, func(t *testing.T) {
			var refused atomic.Int32
			provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				w.Header().Set("Content-Type", "application/json")
				n := len(body) / 4
				if n > 8000 {
					refused.Add(1)
					w.WriteHeader(http.StatusBadRequest)
					fmt.Fprintf(w, `{"error": {"message": "This model's maximum context length is 8000 tokens. However, your `+
						`messages resulted in %d tokens.", "code": "context_length_exceeded"}}`, n)
					return
				}
				fmt.Fprintf(w, `{"choices": [{"message": {"role": "assistant", "content": "I read on."}}], `+
					`"usage": {"prompt_tokens": %d, "completion_tokens": 4}}`, n)
			}))
			t.Cleanup(provider.Close)
			url := runProxy(t, append([]string{"--no-config", "--upstream", provider.URL + "/v1"}, state...)...)
			for conversation := range 2 {
				converse(t, url, conversation)
			}
			if n := refused.Load(); n != 1 {
				t.Errorf("refused %d times, want 1", n)
			}
		})
	}
}

// runProxy runs the command until the test ends, and returns where it listens.
func runProxy(t *testing.T, args ...string) (url string) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	said, says := io.Pipe()
	ended := make(chan int, 1)
	e := env{stdin: strings.NewReader(""), stdout: io.Discard, stderr: says, stateHome: t.TempDir()}
	go func() {
		ended <- doMain(ctx, append([]string{"proxy", "--listen", "127.0.0.1:0"}, args...), e)
		says.Close()
	}()
	t.Cleanup(func() {
		stop()
		<-ended
	})
	lines := bufio.NewReader(said)
	for url == "" {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("the proxy ended: %s", line)
		}
		if _, rest, found := strings.Cut(line, "listening on "); found {
			url, _, _ = strings.Cut(rest, " ")
		}
	}
	go io.Copy(io.Discard, lines)
	return url
}

// converse sends a conversation of fifty turns, each with all that was before.
func converse(t *testing.T, url string, conversation int) {
	t.Helper()
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	chat := []message{{"user", fmt.Sprintf("Read the chapters of book %d, one after the other.", conversation)}}
	for turn := range 50 {
		body, err := json.Marshal(map[string]any{"model": "other-unknown-llm", "messages": chat})
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.Post(url+"/chat/completions", "application/json", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("conversation %d, turn %d: %s", conversation, turn, resp.Status)
		}
		text := fmt.Sprintf("Chapter %d of book %d. ", turn, conversation) +
			strings.Repeat("Everybody remembered the following afternoon differently. ", 25)
		chat = append(chat, message{"assistant", "I read on."}, message{"user", text})
	}
}

// TestAProxyAsksOllamaForTheConfiguredWindow: the window that the configuration or the flag sets goes to Ollama as
// num_ctx with a request that has none; what only the catalog knows does not.
func TestAProxyAsksOllamaForTheConfiguredWindow(t *testing.T) {
	features.Proves(t, "A7")
	for name, tc := range map[string]struct {
		yaml string
		args []string
		want int
	}{
		"a context":   {"context: 20000", nil, 20000},
		"an alias":    {"models: {o: {provider: ollama, model: llama3.1, context_window: 16384}}\nmodel: o", nil, 16384},
		"an override": {"overrides: [{model: llama3.1, maxInputTokens: 22000}]", nil, 22000},
		"a flag":      {"context: 20000", []string{"--window", "9000"}, 9000},
		"none":        {"{}", nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			asked := make(chan int, 1)
			provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var said struct {
					Options struct {
						NumCtx int `json:"num_ctx"`
					}
				}
				if err := json.NewDecoder(r.Body).Decode(&said); err != nil {
					t.Error(err)
				}
				asked <- said.Options.NumCtx
			}))
			t.Cleanup(provider.Close)
			path := filepath.Join(t.TempDir(), "kagewasm.yaml")
			if err := os.WriteFile(path, []byte(tc.yaml), 0o600); err != nil {
				t.Fatal(err)
			}
			url := runProxy(t, append(tc.args, "--upstream", provider.URL, "--config", path, "--state", ":memory:")...)
			resp, err := http.Post(url+"/api/chat", "application/json", strings.NewReader(`{"model": "llama3.1"}`))
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if n := <-asked; n != tc.want {
				t.Errorf("num_ctx %d, want %d", n, tc.want)
			}
		})
	}
}
