package config_test

import (
	"testing"

	"github.com/kagewasm/kagewasm/config"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies"
)

// TestResolutionOrder: a named prompt with the agent's own model; then the
// agent named for it; then the default agent; else nobody, and where the floor
// is off nothing but pruning.
func TestResolutionOrder(t *testing.T) {
	features.Proves(t, "A8")
	c := load(t, `
models: {own: {provider: openai, model: o}, fast: {provider: openai, model: f}, third: {provider: openai, model: t}}
model: own
compaction: {agent: writer, summarize: {fast_model: third}}
agents:
  by-prompt: {prompt: Mine, compaction: {agent: other}}
  by-prompt-at-all: {prompt: Mine}
  by-agent: {compaction: {agent: other}, subagents: {inherits: {}, own-prompt: {prompt: Mine}, none: {compaction: {agent: ""}}}}
  by-default: {}
  back-to-none: {compaction: {agent: ~, summarize: {model: third, prompt: "project:/s.md"}}}
  pruned: {compaction: {agent: ~, no_floor: true}, subagents: {with-model: {compaction: {summarize: {model: fast}}}}}
  writer: {model: fast, prompt: Writers}
  other: {model: third, compaction: {summarize: {prompt: "project:/s.md"}}}
`, ".kagewasm/prompts/Mine.md", "mine", ".kagewasm/prompts/Writers.md", "the writer's", "s.md", "of the block")
	for _, tc := range []struct {
		why, path string
		want      config.Writer
		text      string // what the policy says of the prompt
		model     string // and of the model; empty is the session's own
	}{
		{"a prompt comes before an agent", "by-prompt", config.Writer{By: "prompt", Agent: "by-prompt", Model: "own",
			Prompt: "Mine"}, "mine", ""},
		{"and before the default agent", "by-prompt-at-all", config.Writer{By: "prompt", Agent: "by-prompt-at-all",
			Model: "own", Prompt: "Mine"}, "mine", ""},
		{"the agent with its model and prompt", "by-agent", config.Writer{By: "agent", Agent: "other", Model: "third",
			Prompt: "project:/s.md"}, "of the block", "third"},
		{"inherited", "by-agent/inherits", config.Writer{By: "agent", Agent: "other", Model: "third",
			Prompt: "project:/s.md"}, "of the block", "third"},
		{"a prompt below an agent", "by-agent/own-prompt", config.Writer{By: "prompt", Agent: "by-agent/own-prompt",
			Model: "own", Prompt: "Mine"}, "mine", ""},
		{"the default agent", "by-default", config.Writer{By: "default_agent", Agent: "writer", Model: "fast",
			Prompt: "Writers"}, "the writer's", "fast"},
		{"nobody: the block, K25", "back-to-none", config.Writer{By: "none", Agent: "back-to-none", Model: "third",
			Prompt: "project:/s.md"}, "of the block", "third"},
		{"nobody, and no floor", "pruned", config.Writer{By: "none", Agent: "pruned", Model: "own",
			Prompt: config.DefaultPrompt, PruneOnly: true}, "", ""},
		{"a model is somebody", "pruned/with-model", config.Writer{By: "none", Agent: "pruned/with-model", Model: "fast",
			Prompt: config.DefaultPrompt}, strategies.DefaultPrompt(), "fast"},
	} {
		t.Run(tc.path, func(t *testing.T) {
			a := c.Agent(tc.path)
			if a.Writer != tc.want {
				t.Errorf("%s: %+v, want %+v", tc.why, a.Writer, tc.want)
			}
			s := a.Policy.Summarize
			if s.Prompt != tc.text || s.Model != tc.model || s.Off != tc.want.PruneOnly {
				t.Errorf("%s: policy has model %q, prompt %q, off %v", tc.why, s.Model, s.Prompt, s.Off)
			}
		})
	}
	if fast := c.Policy("by-default").Summarize.FastModel; fast != "" {
		t.Errorf("the model of another writer is asked in its place: %q", fast)
	}
	wantProblem(t, problems(t, "compaction: {agent: writr}\nagents: {writer: {}}\n"), 1, 21, `did you mean "writer"?`)
}
