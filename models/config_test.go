package models_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/modeltest"
	"github.com/kagewasm/kagewasm/models"
)

func TestConfigurationsThatAreNone(t *testing.T) {
	for says, c := range map[string]models.Config{
		"provider: \"mistral\"": {Provider: "mistral", Model: "m"},
		"provider: \"\"":        {Model: "m"},
		"model: missing":        {Provider: models.OpenAI},
		"num_ctx: openai":       {Provider: models.OpenAI, Model: "m", NumCtx: 9},
		"max_output: less":      {Provider: models.OpenAI, Model: "m", MaxOutput: -1},
		"timeout: less":         {Provider: models.OpenAI, Model: "m", Timeout: -time.Second},
		"concurrency: less":     {Provider: models.OpenAI, Model: "m", Concurrency: -1},
		"base_url: not a URL":   {Provider: models.OpenAI, Model: "m", BaseURL: "http://x:" + key + "@[::1"},
		"base_url: not an http": {Provider: models.OpenAI, Model: "m", BaseURL: "ftp://example.com"},
		"base_url: has a user":  {Provider: models.OpenAI, Model: "m", BaseURL: "https://user:" + key + "@example.com"},
		"base_url: has a user,": {Provider: models.OpenAI, Model: "m", BaseURL: "https://example.com/?key=" + key},
	} {
		t.Run(says, func(t *testing.T) {
			_, err := models.New(c)
			if abi.CodeOf(err) != abi.CodeUsage || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), key) {
				t.Errorf("%v, want %q", err, says)
			}
		})
	}
}

// What is written in base URLs differs; all of these lead to the same place.
func TestBaseURLs(t *testing.T) {
	for w, suffixes := range map[modeltest.Wire][]string{
		modeltest.OpenAI:    {"/v1", "/v1/"},
		modeltest.Anthropic: {"", "/", "/v1", "/v1/"},
		modeltest.Ollama:    {"", "/", "/api", "/api/"},
	} {
		s := modeltest.New(t)
		root := strings.TrimSuffix(s.URL(w), "/v1")
		for _, suffix := range suffixes {
			t.Run(string(w)+suffix, func(t *testing.T) {
				c := config(s, w)
				c.BaseURL = root + suffix
				if _, err := ask(t, c); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// OpenAI refuses max_tokens for its newer models, others know nothing else.
func TestNameOfMaxTokens(t *testing.T) {
	for base, want := range map[string]string{
		"https://api.openai.com/v1":              "max_completion_tokens",
		"https://us.openai.azure.com/openai/v1/": "max_completion_tokens",
		"https://openrouter.ai/api/v1":           "max_tokens",
		"https://notopenai.com/v1":               "max_tokens",
	} {
		t.Run(base, func(t *testing.T) {
			var body bytes.Buffer
			c := models.Config{Provider: models.OpenAI, Model: "m", BaseURL: base, Retries: -1}
			c.HTTPClient = &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
				_, err := body.ReadFrom(r.Body)
				return nil, errors.Join(err, errors.New("no network here"))
			})}
			_, _ = newModel(t, c).Complete(t.Context(), abi.ModelRequest{Prompt: "x", MaxTokens: 5})
			if !strings.Contains(body.String(), `"`+want+`":5`) {
				t.Errorf("%s, want %s", body.String(), want)
			}
		})
	}
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Clients of providers like to read keys, addresses and more from the environment.
func TestEnvironmentIsNotRead(t *testing.T) {
	s := modeltest.New(t)
	for name, value := range map[string]string{
		"OPENAI_API_KEY": "from-the-environment", "OPENAI_ORG_ID": "from-the-environment",
		"OPENAI_BASE_URL": "http://127.0.0.1:1", "OPENAI_CUSTOM_HEADERS": "X-From: from-the-environment",
		"ANTHROPIC_API_KEY": "from-the-environment", "ANTHROPIC_AUTH_TOKEN": "from-the-environment",
		"ANTHROPIC_BASE_URL": "http://127.0.0.1:1", "ANTHROPIC_CUSTOM_HEADERS": "X-From: from-the-environment",
	} {
		t.Setenv(name, value)
	}
	for _, w := range wires {
		c := config(s, w)
		c.Key = ""
		if _, err := ask(t, c); err != nil {
			t.Errorf("%s: %v", w, err)
		}
	}
	for _, r := range s.Requests() {
		if auth := r.Header.Get("Authorization") + r.Header.Get("X-Api-Key"); auth != "" {
			t.Errorf("%s: a key is sent where there is none: %q", r.Wire, auth)
		}
		for name, values := range r.Header {
			if strings.Contains(strings.Join(values, " "), "from-the-environment") {
				t.Errorf("%s: header %s: %s", r.Wire, name, values)
			}
		}
	}
}

func TestKeyDoesNotShow(t *testing.T) {
	var out bytes.Buffer
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "key", models.Key(key), "in", struct{ K models.Key }{key})
	if err := json.NewEncoder(&out).Encode(map[string]any{"key": models.Key(key)}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), key) || strings.Count(out.String(), "[redacted]") != 3 {
		t.Errorf("%s", out.String())
	}
}
