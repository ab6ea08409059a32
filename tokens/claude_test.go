package tokens_test

import (
	"testing"

	"github.com/kagewasm/kagewasm/tokens"
)

// The models that read thinking only behind an unchanged prefix, by any of their names.
func TestBindsThinking(t *testing.T) {
	for name, want := range map[string]bool{
		"claude-fable-5-1": true, "claude-fable-5-2": true, "claude-mythos-5-1": true, "claude-opus-5-5": true,
		"claude-sonnet-5-5": true, "claude-haiku-5-5-20260901": true, "claude-opus-6": true,
		"bedrock/us.anthropic.claude-opus-5-5-v1:0": true, "openrouter/anthropic/claude-sonnet-5.5": true,
		"claude-opus-5": false, "claude-fable-5": false, "claude-opus-4-8": false, "claude-sonnet-4-5-20250929": false,
		"claude-opus-5-20260201": false, "claude-3-opus": false, "gpt-4o": false, "": false,
	} {
		t.Run(name, func(t *testing.T) {
			if got := tokens.Default().Resolve(name).BindsThinking; got != want {
				t.Errorf("%v, want %v", got, want)
			}
		})
	}
}

// The generations of Claude have two tokenizers, and neither is public; the published one of
// OpenAI's models needs no scale, and what an operator says holds.
func TestTokenScale(t *testing.T) {
	for name, want := range map[string]float64{
		"claude-opus-4-7": 1.53, "claude-opus-4.8": 1.53, "claude-sonnet-5": 1.53, "claude-haiku-5-20261001": 1.53,
		"claude-fable-5": 1.53, "bedrock/us.anthropic.claude-opus-4-7-v1:0": 1.53,
		"openrouter/anthropic/claude-sonnet-5": 1.53,
		"claude-opus-4-6":                      1.18, "claude-sonnet-4-5-20250929": 1.18, "claude-3-5-sonnet-20241022": 1.18,
		"claude-opus-4-20250514": 1.18,
		"gpt-4o":                 1, "gemini-2.5-pro": 1, "nobody-knows": 1, "": 1,
	} {
		t.Run(name, func(t *testing.T) {
			if got := tokens.Default().Resolve(name).TokenScale; got != want {
				t.Errorf("%v, want %v", got, want)
			}
		})
	}
	m := tokens.Default().Resolve("claude-sonnet-5", tokens.Override{Model: "claude-sonnet-5", TokenScale: 1.4})
	if m.TokenScale != 1.4 || m.ExactCounts {
		t.Errorf("an operator's scale: %+v", m)
	}
	if m = tokens.Default().Resolve("claude-sonnet-5", tokens.Override{Encoding: tokens.CL100k}); m.TokenScale != 1 {
		t.Errorf("an operator's encoding is the model's own: %+v", m)
	}
}
