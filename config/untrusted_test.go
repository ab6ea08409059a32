package config_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/config"
)

// TestEverySettingIsDecided: settings.json says of each setting what a file that
// nobody trusts may set it to.
func TestEverySettingIsDecided(t *testing.T) {
	all := config.Untrusted()
	if len(all) < 50 {
		t.Fatalf("%d settings", len(all))
	}
	for path, says := range all {
		t.Run(path, func(t *testing.T) {
			if !slices.Contains([]string{"no", "any", "less", "add"}, says) {
				t.Errorf("settings.json says %q: decide whether it can only narrow what happens", says)
			}
		})
	}
	for _, path := range []string{"models", "plugins", "overrides", "compaction.compactor", "compaction.observers",
		"compaction.agent", "model", "prompt", "compaction.summarize.prompt", "compaction.summarize.model"} {
		t.Run(path+" runs, sends or tells", func(t *testing.T) {
			if all[path] != "no" {
				t.Errorf("%q", all[path])
			}
		})
	}
}

// TestWidens: what a file says beyond narrowing what happens is listed with its line.
func TestWidens(t *testing.T) {
	const models = "models: {m: {provider: openai, model: x}}\n"
	for _, tc := range []struct {
		why, yaml string
		want      []string
	}{
		{"nothing", "", nil},
		{"thresholds", "compaction: {upper_threshold: 0.8, lower_threshold: 0.5, max_tokens: 1000}\n", nil},
		{"other spellings", "compaction: {threshold: 80, keep_last_messages: 3, tool_result_max_length: 100}\n", nil},
		{"less", "compaction: {summarize: off, prune: off, trim: off, enabled: false, ledger_tokens: off}\n", nil},
		{"what is kept", "compaction: {always_keep: [{role: user, matches: \"a+\"}]}\n", nil},
		{"a secret more", "compaction: {redact: [\"corp-[0-9a-f]{32}\"]}\n", nil},
		{"no secrets", "compaction: {redact: off}\n", []string{"compaction.redact (line 1)"}},
		{"no secrets of an agent", "agents:\n  a:\n    subagents:\n      b: {compaction: {redact: false}}\n",
			[]string{"agents.a.subagents.b.compaction.redact (line 4)"}},
		{"the default", "compaction: {redact: ~, inject_tokens: ~}\n", nil},
		{"empty ones", "models: {}\nplugins: {}\ncompaction: {compactor: \"\", observers: []}\n", nil},
		{"models", models, []string{"models (line 1)"}},
		{"a model in use", models + "model: m\n", []string{"models (line 1)", "model (line 2)"}},
		{"plugins", "plugins: {p: {path: p.wasm}}\ncompaction: {observers: [p]}\n",
			[]string{"plugins (line 1)", "compaction.observers (line 2)"}},
		{"another price", "overrides: [{model: x, prices: {input: 0}}]\n", []string{"overrides (line 1)"}},
		{"more from plugins", "compaction: {inject_tokens: 2001}\n", []string{"compaction.inject_tokens (line 1)"}},
		{"less from plugins", "compaction: {inject_tokens: 2000}\n", nil},
		{"more to a model", "compaction: {chunks: 2, summarize: {timeout: 6m, max_summary_tokens: 9999}}\n",
			[]string{"compaction.summarize.timeout (line 1)", "compaction.summarize.max_summary_tokens (line 1)",
				"compaction.summarize.chunks (line 1)"}},
		{"patterns that take long", "compaction: {redact: [\"x{300}\"]}\n", []string{"patterns of "}},
	} {
		t.Run(tc.why, func(t *testing.T) {
			got := load(t, tc.yaml).Widens()
			if !slices.EqualFunc(got, tc.want, strings.HasPrefix) {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// TestPatternsAreBounded: a few bytes cannot ask for a program of a million steps.
func TestPatternsAreBounded(t *testing.T) {
	many := strings.Repeat("    - 'a{1000}'\n", 60)
	for _, tc := range []struct{ why, yaml, says string }{
		{"a long program", "compaction: {redact: ['" + strings.Repeat("abcdefghij", 9) + "(abcdefghijkl){1000}']}\n",
			"repeat less"},
		{"a long text", "compaction: {redact: ['" + strings.Repeat("a", 1001) + "']}\n", "1001 bytes"},
		{"many programs", "compaction:\n  redact:\n" + many, "all of them together"},
		{"kept messages", "compaction: {always_keep: [{matches: '(abcdefghijkl){1000}'}]}\n", "repeat less"},
		{"large classes", "compaction: {redact: ['(\\pL\\pM\\pN){300}']}\n", "repeat less"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			list := problems(t, tc.yaml)
			if len(list) != 1 || !strings.Contains(list[0].Message, tc.says) {
				t.Errorf("%v", list)
			}
		})
	}
}
