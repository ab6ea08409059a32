package config_test

import (
	"slices"
	"testing"

	"github.com/kagewasm/kagewasm/internal/features"
)

const family = `
models:
  big: {provider: anthropic, model: b, context_window: 200000}
  small: {provider: ollama, model: s, context_window: 8192}
plugins:
  comp: {path: comp.wasm}
  obs: {path: obs.wasm}
model: big
compaction:
  upper_threshold: 0.9
  lower_threshold: 0.5
  observers: [obs]
  prune: {protect_tokens: 1000, mode: iteration}
agents:
  main:
    context: 100000
    compaction:
      compactor: comp
      max_bytes: 77
    subagents:
      reviewer:
        compaction:
          prune: {protect_tokens: 5}
          observers: []
        subagents:
          deep: {}
      helper:
        model: small
        compaction: {upper_threshold: ~, prune: off, compactor: ""}
      empty:
`

// TestSubagentsInherit: what an agent does not say it takes over: blocks
// field by field, lists as a whole; "~" is the default.
func TestSubagentsInherit(t *testing.T) {
	features.Proves(t, "K5")
	c := load(t, family)
	for _, tc := range []struct {
		why, path string
		says      func() bool
	}{
		{"the top holds for all", "main/reviewer", func() bool { return c.Agent("main/reviewer").Policy.When.Upper == 0.9 }},
		{"so does the agent above", "main/reviewer/deep",
			func() bool { return c.Agent("main/reviewer/deep").Policy.When.MaxBytes == 77 }},
		{"not beside it", "", func() bool {
			return c.Agent("main").Policy.When.MaxBytes == 77 && c.Agent("other").Policy.When.MaxBytes == 77
		}},
		{"blocks are merged", "main/reviewer", func() bool {
			p := c.Agent("main/reviewer").Policy.Prune
			return p.ProtectTokens == 5 && p.Arguments == "iteration"
		}},
		{"two levels down too", "main/reviewer/deep",
			func() bool { return c.Agent("main/reviewer/deep").Policy.Prune.ProtectTokens == 5 }},
		{"a list replaces a list", "main/reviewer", func() bool { return len(c.Agent("main/reviewer").Observers) == 0 }},
		{"a list is inherited", "main/helper", func() bool {
			return slices.Equal(c.Agent("main/helper").Observers, []string{"obs"})
		}},
		{"~ is the default", "main/helper", func() bool {
			return c.Agent("main/helper").Policy.When.Upper == 0 && c.Agent("main/helper").Policy.When.Lower == 0.5
		}},
		{"off in place of a block leaves the rest", "main/helper", func() bool {
			p := c.Agent("main/helper").Policy.Prune
			return p.Off && p.ProtectTokens == 1000
		}},
		{"an empty text is none", "main/helper", func() bool { return c.Agent("main/helper").Compactor == "" }},
		{"an agent without a word inherits all", "main/empty",
			func() bool { return c.Agent("main/empty").Compactor == "comp" }},
		{"the window of one's own", "main", func() bool { return c.Agent("main").Window == 100000 }},
		{"the window above, with its model", "main/reviewer",
			func() bool { return c.Agent("main/reviewer").Window == 100000 }},
		{"another model has another window", "main/helper", func() bool { return c.Agent("main/helper").Window == 8192 }},
	} {
		t.Run(tc.why, func(t *testing.T) {
			if !tc.says() {
				t.Errorf("%s: agent %q is %+v", tc.why, tc.path, c.Agent(tc.path))
			}
		})
	}
}

// TestOffIsTakenBack: who writes out what is off above means it.
func TestOffIsTakenBack(t *testing.T) {
	features.Proves(t, "K5")
	c := load(t, `
models: {m: {provider: openai, model: x}}
compaction: {summarize: {chunks: 3}}
agents:
  a:
    compaction: {summarize: off}
    subagents:
      inherits: {compaction: {max_tokens: 5}}
      writes: {compaction: {summarize: {model: m}}}
      on: {compaction: {summarize: on}}
  b:
    compaction: {summarize: {off: true}}
    subagents:
      merges: {compaction: {summarize: {model: m}}}
`)
	for path, off := range map[string]bool{"a": true, "a/inherits": true, "a/writes": false, "a/on": false, "b": true,
		"b/merges": true} {
		t.Run(path, func(t *testing.T) {
			s := c.Agent(path).Policy.Summarize
			if s.Off != off || s.Chunks != 3 {
				t.Errorf("%s: off %v, chunks %d", path, s.Off, s.Chunks)
			}
		})
	}
}

// TestPaths: which agent a session's path means.
func TestPaths(t *testing.T) {
	features.Proves(t, "K5")
	c := load(t, family)
	for path, want := range map[string]string{
		"":                       "main", // the main agent has no path
		"main":                   "main",
		"main/reviewer":          "main/reviewer",
		"reviewer":               "main/reviewer", // below the main agent
		"reviewer/deep":          "main/reviewer/deep",
		"main/reviewer/deep/new": "main/reviewer/deep",
		"main/new":               "main",
		"new/newer":              "main",
		"//":                     "main",
	} {
		t.Run(path, func(t *testing.T) {
			if got := c.Agent(path).Path; got != want {
				t.Errorf("agent %q is %q, want %q", path, got, want)
			}
		})
	}
	if got := load(t, "agents: {x: }\n").Agent("y").Path; got != "" {
		t.Errorf("without a main agent: %q", got)
	}
	want := []string{"", "main", "main/empty", "main/helper", "main/reviewer", "main/reviewer/deep"}
	if got := c.Agents(); !slices.Equal(got, want) {
		t.Errorf("agents %q", got)
	}
}

// TestThresholds: a compaction has to get below where it starts, whichever
// agents the two come from.
func TestThresholds(t *testing.T) {
	features.Proves(t, "K2")
	for _, c := range []struct {
		why, yaml    string
		line, column int
	}{
		{"both here", "compaction: {upper_threshold: 0.5, lower_threshold: 0.6}\n", 1, 31},
		{"the upper below, the lower inherited",
			"compaction: {lower_threshold: 0.6}\nagents: {a: {compaction: {upper_threshold: 0.6}}}\n", 2, 44},
		{"in another spelling", "compaction: {lower_threshold: 0.6}\nagents: {a: {compaction: {threshold: 50}}}\n", 2, 38},
		{"the lower below", "compaction: {upper_threshold: 0.6}\nagents: {a: {compaction: {lower_threshold: 0.7}}}\n", 2, 44},
		{"the profile below", "compaction: {lower_threshold: 0.55}\nagents: {a: {compaction: {profile: gemini}}}\n", 2, 36},
		{"once, not for each agent below",
			"compaction: {upper_threshold: 0.5, lower_threshold: 0.6}\nagents: {a: {}, b: {subagents: {c: {}}}}\n", 1, 31},
	} {
		t.Run(c.why, func(t *testing.T) {
			wantProblem(t, problems(t, c.yaml), c.line, c.column, "lower_threshold has to be less")
		})
	}
	load(t, "compaction: {upper_threshold: 0.4}\n") // the lower follows
}
