package config_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/config"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/tokens"
)

func TestModels(t *testing.T) {
	c := load(t, `
models:
  main:
    provider: openai
    model: qwen/qwen3-coder
    base_url: https://openrouter.ai/api/v1
    key_env: OPENROUTER_API_KEY
    context_window: 262144
    max_output: 65536
    prices: {input: 0.3, output: 1.2, cache_read: 0, cache_write: 0.4}
    encoding: o200k_base
    timeout: 90s
    retries: 0
    serial: true
    headers: {X-Title: kagewasm}
  bare: {provider: anthropic, model: 4.5}
`)
	want := config.Model{
		Alias: "main", Provider: "openai", Name: "qwen/qwen3-coder", BaseURL: "https://openrouter.ai/api/v1",
		KeyEnv: "OPENROUTER_API_KEY",
		Window: 262144, MaxOutput: 65536, Timeout: 90 * time.Second, Retries: -1, Serial: true,
		Headers: map[string]string{"X-Title": "kagewasm"},
	}
	got := c.Models["main"]
	catalog := tokens.Override{
		Model: want.Name, ContextWindow: new(262144), MaxOutput: new(65536), Encoding: tokens.O200k,
		Input: new(0.3), Output: new(1.2), CacheRead: new(0.0), CacheWrite: new(0.4),
	}
	if o := got.Override(); !reflect.DeepEqual(o, catalog) {
		t.Errorf("for the catalog\n%+v, want\n%+v", o, catalog)
	}
	if got := fields(got); got != fields(want) {
		t.Errorf("got  %s\nwant %s", got, fields(want))
	}
	bare := config.Model{Alias: "bare", Provider: "anthropic", Name: "4.5"}
	if got, want := c.Models["bare"], bare; !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// fields are all that the configuration says but for the catalog.
func fields(m config.Model) string {
	return fmt.Sprint(m.Alias, m.Provider, m.Name, m.BaseURL, m.KeyEnv, m.Window, m.MaxOutput, m.Timeout, m.Retries,
		m.Serial, m.Headers)
}

// TestOverrides: what the configuration says of a model, by provider and
// name, wins over the catalog; an alias says it of its own model.
func TestOverrides(t *testing.T) {
	features.Proves(t, "K18")
	c := load(t, `
overrides:
  - {provider: anthropic, model: claude-sonnet-4-5, context_window: 150000, prices: {input: 1}}
  - {model: house-model, maxInputTokens: 32000}
models:
  local: {provider: ollama, model: "qwen3:8b", context: 16384, max_output: 2048}
  aliased: {provider: anthropic, model: claude-sonnet-4-5, context_window: 120000}
`)
	catalog := tokens.Default()
	gateways := load(t, `
models:
  a: {provider: openai, model: qwen/qwen3-coder, base_url: "https://openrouter.ai/api/v1", context_window: 1111}
  b: {provider: openai, model: house, base_url: "http://localhost:8000/v1", context_window: 2222}
  c: {provider: anthropic, model: claude-sonnet-4-5, base_url: "https://gateway.corp/v1", context_window: 3333}
  d: {provider: openai, model: gpt-5, context_window: 4444}
  e: {provider: ollama, model: "llama3:8b", base_url: "http://gpu:11434", context_window: 5555}
`)
	for alias, m := range gateways.Models {
		if got := catalog.Resolve(m.CatalogName(), gateways.Overrides...); got.ContextWindow == nil ||
			*got.ContextWindow != m.Window {
			t.Errorf("alias %s, %s: window %v, want %d", alias, m.CatalogName(), got.ContextWindow, m.Window)
		}
	}
	plain := catalog.Resolve("anthropic/claude-sonnet-4-5")
	for _, tc := range []struct {
		why, model string
		window     int
	}{
		{"the alias says more than the list", "anthropic/claude-sonnet-4-5", 120000},
		{"by its name alone", "house-model", 32000},
		{"a local model", "ollama/qwen3:8b", 16384},
	} {
		t.Run(tc.why, func(t *testing.T) {
			m := catalog.Resolve(tc.model, c.Overrides...)
			if m.ContextWindow == nil || *m.ContextWindow != tc.window {
				t.Errorf("%s: window of %s is %v, want %d", tc.why, tc.model, m.ContextWindow, tc.window)
			}
		})
	}
	m := catalog.Resolve("anthropic/claude-sonnet-4-5", c.Overrides...)
	if m.Prices == nil || m.Prices.Input != 1 || m.Prices.Output != plain.Prices.Output {
		t.Errorf("prices %+v, in the catalog %+v", m.Prices, plain.Prices)
	}
	if *plain.ContextWindow == 120000 {
		t.Error("the catalog says the same: the test shows nothing")
	}
}

// TestPricesAreTheAliasesOwn: prices that stand under an alias are no other one's of the same model, and not the
// model's.
func TestPricesAreTheAliasesOwn(t *testing.T) {
	c := load(t, `
models:
  dear: {provider: anthropic, model: claude-sonnet-4-5, prices: {input: 30, output: 150}}
  cheap: {provider: anthropic, model: claude-sonnet-4-5, prices: {input: 1}}
  plain: {provider: anthropic, model: claude-sonnet-4-5}
`)
	catalog := tokens.Default()
	listed := catalog.Resolve("anthropic/claude-sonnet-4-5").Prices.Input
	for alias, want := range map[string]float64{"dear": 30, "cheap": 1, "plain": listed} {
		m := c.Models[alias]
		if got := catalog.Resolve(m.CatalogName(), append(c.Overrides, m.Override())...).Prices.Input; got != want {
			t.Errorf("alias %s: an input of %v, want %v", alias, got, want)
		}
	}
	if got := catalog.Resolve("claude-sonnet-4-5", c.Overrides...).Prices.Input; got != listed {
		t.Errorf("the model: an input of %v, want %v", got, listed)
	}
}

// TestContextWins: the window that is configured wins, and Ollama is asked
// for it.
func TestContextWins(t *testing.T) {
	features.Proves(t, "A7")
	c := load(t, `
models:
  local: {provider: ollama, model: "qwen3:8b", context: 16384}
  cloud: {provider: anthropic, model: claude-sonnet-4-5, context_window: 120000}
  open: {provider: anthropic, model: claude-sonnet-4-5}
agents:
  a: {model: local}
  b: {model: cloud}
  c: {model: cloud, context: 50000}
  d: {model: cloud, context_window: 60000, compaction: {strict_window: true}}
  e: {model: open}
`)
	for path, window := range map[string]int{"a": 16384, "b": 120000, "c": 50000, "d": 60000, "e": 0} {
		t.Run(path, func(t *testing.T) {
			if got := c.Agent(path).Window; got != window {
				t.Errorf("agent %s: window %d, want %d", path, got, window)
			}
		})
	}
	if n := c.Models["local"].NumCtx(); n != 16384 {
		t.Errorf("num_ctx %d", n)
	}
	if n := c.Models["cloud"].NumCtx(); n != 0 {
		t.Errorf("num_ctx %d for a provider that has none", n)
	}
	if !c.Policy("d").When.StrictWindow || c.Policy("a").When.StrictWindow {
		t.Error("strict_window")
	}
	wantProblem(t, problems(t, "model: gpt\nmodels: {gtp: {provider: openai, model: x}}\n"), 1, 8, `did you mean "gtp"?`)
	wantProblem(t, problems(t, "compaction: {summarize: {fast_model: x}}\n"), 1, 38, "no model")
}
