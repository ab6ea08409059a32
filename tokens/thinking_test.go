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
