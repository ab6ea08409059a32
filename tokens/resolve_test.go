package tokens_test

import (
	"testing"

	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/tokens"
)

func TestResolve(t *testing.T) {
	features.Proves(t, "K18")
	for _, tc := range []struct{ name, want, why string }{
		{"claude-sonnet-4-5", "anthropic/claude-sonnet-4-5", "the family says whose it is"},
		{"Claude-Sonnet-4-5", "anthropic/claude-sonnet-4-5", "case does not matter"},
		{" gpt-4o ", "openai/gpt-4o", "nor does space around it"},
		{"anthropic/claude-sonnet-4-5", "anthropic/claude-sonnet-4-5", "a provider's prefix"},
		{"anthropic:claude-sonnet-4-5", "anthropic/claude-sonnet-4-5", "with a colon"},
		{"claude-sonnet-4-5-20250929", "anthropic/claude-sonnet-4-5", "a date"},
		{"claude-3-5-sonnet-latest", "anthropic/claude-3-5-sonnet", "latest"},
		{"claude-3-7-sonnet", "anthropic/claude-3-7-sonnet-latest", "no latest"},
		{"gpt-4o-2024-11-20", "openai/gpt-4o", "a date with dashes"},
		{"openai/o3-mini-2025-01-31", "openai/o3-mini", "a date that the catalog does not list"},
		{"vertex/claude-sonnet-4-5@20250929", "google/claude-sonnet-4-5", "a date behind an @"},
		{"vertex_ai/gemini-2.5-pro", "google/gemini-2.5-pro", "another name of the provider"},
		{"gemini-2.5-pro-preview-05-06", "google/gemini-2.5-pro", "a preview"},
		{"bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
			"aws/regional.anthropic.claude-sonnet-4-5-20250929-v1:0", "Bedrock's names"},
		{"azure/gpt-4o", "azure/gpt-4o", "its own entry"},
		{"azure/gpt-3.5-turbo-16k", "openai/gpt-3.5-turbo-16k", "a model that the provider's list does not have"},
		{"copilot/claude-sonnet-4", "anthropic/claude-sonnet-4-0", "a provider that passes on others' models"},
		{"openrouter/openai/gpt-4o", "openrouter/openai/gpt-4o", "a gateway's own entry"},
		{"openrouter/anthropic/claude-sonnet-4.5:free", "openrouter/anthropic/claude-sonnet-4.5", "a variant"},
		{"litellm/anthropic/claude-opus-4-5", "anthropic/claude-opus-4-5", "a gateway that nobody knows"},
		{"litellm/gpt-4o", "openai/gpt-4o", "the same without whose it is"},
		{"xai/grok-4", "x-ai/grok-4-0709", "another name"},
		{"ollama/gpt-oss:20b", "ollama/gpt-oss:20b", "a local server is nobody's"},
		{"unheard-of", "unheard-of", "as it was written"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			m := tokens.Default().Resolve(tc.name)
			if got := m.Name(); got != tc.want {
				t.Errorf("%q is %q, want %q", tc.name, got, tc.want)
			}
		})
	}
}

// Copilot serves OpenAI's models: each of them has a window there, its own or
// OpenAI's.
func TestCopilotServesOpenAI(t *testing.T) {
	features.Proves(t, "K18")
	for _, id := range []string{"gpt-4o", "gpt-4.1", "gpt-5", "gpt-5-mini", "o3-mini", "o4-mini"} {
		t.Run(id, func(t *testing.T) {
			m, direct := tokens.Default().Resolve("copilot/"+id), tokens.Default().Resolve("openai/"+id)
			if m.ContextWindow == nil || *m.ContextWindow > *direct.ContextWindow {
				t.Errorf("copilot/%s: %+v", id, m)
			}
			if !m.ExactCounts || m.Encoding != direct.Encoding {
				t.Errorf("copilot/%s: counted with %s, exact %v", id, m.Encoding, m.ExactCounts)
			}
		})
	}
}

// What a gateway does not say comes from the model's maker, or from those that
// know; a model of many has the window of most of them and no price.
func TestResolveFillsIn(t *testing.T) {
	for _, name := range []string{"kimi-k2", "glm-4.6", "meta-llama/Llama-3.3-70B-Instruct",
		"openrouter/anthropic/claude-3.5-sonnet"} {
		t.Run(name, func(t *testing.T) {
			if m := tokens.Default().Resolve(name); m.ContextWindow == nil || *m.ContextWindow < 100_000 {
				t.Errorf("%+v, want a window", m)
			}
		})
	}
	if m := tokens.Default().Resolve("meta-llama/Llama-3.3-70B-Instruct"); m.Prices != nil || m.Provider != "" {
		t.Errorf("%+v: nobody's in particular, and it has a price", m)
	}
}

func TestOverridesWin(t *testing.T) {
	features.Proves(t, "K18")
	resolve := tokens.Default().Resolve
	catalog := resolve("openai/gpt-4o")
	for _, tc := range []struct {
		why, name string
		overrides []tokens.Override
		window    int
	}{
		{"provider and model", "openai/gpt-4o",
			[]tokens.Override{{Provider: "openai", Model: "gpt-4o", ContextWindow: new(64_000)}}, 64_000},
		{"another case, and an alias of the provider", "copilot/GPT-4o",
			[]tokens.Override{{Provider: "GitHub-Copilot", Model: "gpt-4o", ContextWindow: new(64_000)}}, 64_000},
		{"the provider is inferred", "gpt-4o",
			[]tokens.Override{{Provider: "openai", Model: "gpt-4o", ContextWindow: new(64_000)}}, 64_000},
		{"a dated name", "gpt-4o-2024-11-20",
			[]tokens.Override{{Provider: "openai", Model: "gpt-4o", ContextWindow: new(64_000)}}, 64_000},
		{"provider and model in one", "gpt-4o", []tokens.Override{{Model: "openai/gpt-4o", ContextWindow: new(64_000)}},
			64_000},
		{"the model at any provider", "azure/gpt-4o", []tokens.Override{{Model: "gpt-4o", ContextWindow: new(64_000)}},
			64_000},
		{"all of a provider", "openai/gpt-4o", []tokens.Override{{Provider: "openai", ContextWindow: new(64_000)}}, 64_000},
		{"every model", "who-knows", []tokens.Override{{ContextWindow: new(64_000)}}, 64_000},
		{"an unknown model", "who-knows", []tokens.Override{{Model: "who-knows", ContextWindow: new(64_000)}}, 64_000},
		{"an unknown provider", "mine/who-knows",
			[]tokens.Override{{Provider: "mine", Model: "who-knows", ContextWindow: new(64_000)}}, 64_000},
		{"a local server", "ollama/llama3:8b",
			[]tokens.Override{{Provider: "ollama", Model: "llama3:8b", ContextWindow: new(64_000)}}, 64_000},
		{"a gateway", "openrouter/openai/gpt-4o",
			[]tokens.Override{{Provider: "openrouter", Model: "openai/gpt-4o", ContextWindow: new(64_000)}}, 64_000},
		{"the one that names more, whatever the order", "openai/gpt-4o", []tokens.Override{
			{Provider: "openai", Model: "gpt-4o", ContextWindow: new(64_000)},
			{Provider: "openai", ContextWindow: new(1)}, {ContextWindow: new(2)}}, 64_000},
		{"the later of two", "openai/gpt-4o", []tokens.Override{
			{Provider: "openai", Model: "gpt-4o", ContextWindow: new(1)},
			{Provider: "openai", Model: "gpt-4o", ContextWindow: new(64_000)}}, 64_000},
		{"another model's", "openai/gpt-4o",
			[]tokens.Override{{Provider: "openai", Model: "gpt-4o-mini", ContextWindow: new(64_000)}}, 128_000},
		{"another provider's", "openai/gpt-4o",
			[]tokens.Override{{Provider: "azure", Model: "gpt-4o", ContextWindow: new(64_000)}}, 128_000},
		{"nonsense sets nothing", "openai/gpt-4o", []tokens.Override{{Provider: "openai", ContextWindow: new(0)},
			{ContextWindow: new(-5)}}, 128_000},
	} {
		t.Run(tc.why, func(t *testing.T) {
			if m := resolve(tc.name, tc.overrides...); m.ContextWindow == nil || *m.ContextWindow != tc.window {
				t.Errorf("%s with %+v: window %d, want %d", tc.name, tc.overrides, m.Window(), tc.window)
			}
		})
	}
	m := resolve("openai/gpt-4o", tokens.Override{Provider: "openai", Model: "gpt-4o", ContextWindow: new(64_000)})
	if *m.MaxOutput != *catalog.MaxOutput || m.Prices.Rates != catalog.Prices.Rates || m.Encoding != catalog.Encoding {
		t.Errorf("an override of the window changed more: %+v", m)
	}
	if after := resolve("openai/gpt-4o"); *after.ContextWindow != 128_000 {
		t.Errorf("an override changed the catalog: %+v", after)
	}
}

func TestOverridePrices(t *testing.T) {
	resolve := tokens.Default().Resolve
	m := resolve("claude-sonnet-4-5", tokens.Override{Provider: "anthropic", Output: new(12.0)})
	if want := (tokens.Rates{Input: 3, Output: 12, CacheRead: 0.3, CacheWrite: 3.75}); m.Prices.Rates != want ||
		len(m.Prices.Tiers) > 0 {
		t.Errorf("%+v, want %+v without tiers", m.Prices, want)
	}
	m = resolve("mine", tokens.Override{Input: new(2.0), Output: new(4.0), CacheRead: new(0.0)})
	if want := (tokens.Rates{Input: 2, Output: 4, CacheRead: 0, CacheWrite: 2}); m.Prices == nil ||
		m.Prices.Rates != want {
		t.Errorf("%+v, want %+v", m.Prices, want)
	}
	m = resolve("mine", tokens.Override{Encoding: tokens.CL100k, MaxOutput: new(100)})
	if m.Encoding != tokens.CL100k || !m.ExactCounts || *m.MaxOutput != 100 || m.Prices != nil {
		t.Errorf("%+v", m)
	}
}

// Any name at all resolves, and to a model that can be worked with.
func FuzzResolve(f *testing.F) {
	for _, s := range []string{"gpt-4o", "a/b/c:d@e", "bedrock/us.anthropic.x-v1:0", "openrouter/openrouter/auto", "::",
		"@", "-latest"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		m := tokens.Default().Resolve(name)
		if m.Window() <= 0 {
			t.Fatalf("%q: %+v", name, m)
		}
		if _, err := tokens.New(m.Encoding, tokens.Options{}); err != nil {
			t.Fatal(err)
		}
	})
}
