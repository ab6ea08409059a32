package main

import (
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

	"github.com/kagewasm/kagewasm/config"
	"github.com/kagewasm/kagewasm/internal/features"
)

// chatOf is the body of a chat of so many messages, of some 100 tokens each.
func chatOf(t *testing.T, model string, messages int) string {
	t.Helper()
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	chat := []message{{"user", "Read the chapters of the book, one after the other."}}
	for n := range messages {
		text := fmt.Sprintf("Chapter %d. ", n) + strings.Repeat("Everybody remembered the afternoon differently. ", 14)
		chat = append(chat, message{[]string{"assistant", "user"}[n%2], text})
	}
	body, err := json.Marshal(map[string]any{"model": model, "messages": chat})
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// TestAProxyKeepsToOllamasWindow: nothing is configured, and Ollama has the model loaded with a window far below what
// its maker says. It would cut the beginning of what is longer without a word, and is sent nothing that is.
func TestAProxyKeepsToOllamasWindow(t *testing.T) {
	features.Proves(t, "N4")
	const loaded = 16_000
	var most atomic.Int64
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/show":
			_, _ = io.WriteString(w, `{"parameters":"stop \"<|eot_id|>\"","model_info":{"general.architecture":"llama",`+
				`"llama.context_length":131072}}`)
		case "/api/ps":
			fmt.Fprintf(w, `{"models":[{"name":"llama3.1:latest","model":"llama3.1:latest","context_length":%d}]}`, loaded)
		default:
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			n := int64(len(body) / 7) // more than is counted here
			most.Store(max(most.Load(), n))
			w.Header().Set("Content-Type", "application/x-ndjson")
			fmt.Fprintf(w, `{"message":{"role":"assistant","content":"I read on."},"done":false}`+"\n"+
				`{"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":%d,`+
				`"eval_count":4}`+"\n", n)
		}
	}))
	t.Cleanup(provider.Close)
	url := runProxy(t, "--no-config", "--upstream", provider.URL)
	for messages := 9; messages < 250; messages += 8 {
		resp, err := http.Post(url+"/api/chat", "application/json", strings.NewReader(chatOf(t, "llama3.1", messages)))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK || strings.Count(string(answer), "\n") != 2 {
			t.Fatalf("%s, %v: %q", resp.Status, err, answer)
		}
	}
	if n := most.Load(); n > loaded || n < loaded/2 {
		t.Errorf("at most %d tokens were sent to a window of %d", n, loaded)
	}
}

// TestAProxyStepsDown: with the recovery that the configuration says a request is sent with fewer and fewer messages.
func TestAProxyStepsDown(t *testing.T) {
	features.Proves(t, "A11")
	const refusal = `{"error":{"message":"Your input exceeds the context window of this model.","code":` +
		`"context_length_exceeded"}}`
	for recovery, want := range map[string]int{"descend": http.StatusOK, "retry": http.StatusBadRequest} {
		t.Run(recovery, func(t *testing.T) {
			provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var said struct{ Messages []json.RawMessage }
				if err := json.NewDecoder(r.Body).Decode(&said); err != nil {
					t.Error(err)
				}
				w.Header().Set("Content-Type", "application/json")
				if len(said.Messages) > 5 {
					w.WriteHeader(http.StatusBadRequest)
					_, _ = io.WriteString(w, refusal)
					return
				}
				_, _ = io.WriteString(w, `{"choices":[{"message":{"role":"assistant","content":"ok"}}]}`)
			}))
			t.Cleanup(provider.Close)
			path := filepath.Join(t.TempDir(), config.FileName)
			if err := os.WriteFile(path, []byte("compaction: {recovery: "+recovery+"}\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			url := runProxy(t, "--config", path, "--upstream", provider.URL+"/v1", "--window", "100000")
			resp, err := http.Post(url+"/v1/chat/completions", "application/json", strings.NewReader(chatOf(t, "m", 60)))
			if err != nil {
				t.Fatal(err)
			}
			answer, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			if resp.StatusCode != want || want != http.StatusOK && string(answer) != refusal {
				t.Errorf("%s: %s", resp.Status, answer)
			}
		})
	}
}
