package config_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/config"
	"github.com/kagewasm/kagewasm/internal/cost"
	"github.com/kagewasm/kagewasm/internal/soak"
)

// bombs are configurations of about n bytes that are hard to read, with as many
// values as there may be: they are read before anybody is asked whether to trust
// them.
func bombs(n int) map[string]string {
	// each repeats an entry, # being its number, for a share of the values allowed.
	each := func(share float64, head, entry, tail string) string {
		var b strings.Builder
		b.WriteString(head)
		left := int(share * 4000)
		for i := 0; b.Len() < n && left > 0; i++ {
			b.WriteString(strings.ReplaceAll(entry, "#", fmt.Sprint(i)))
			for _, c := range entry {
				if strings.ContainsRune("\n,:[{", c) {
					left--
				}
			}
		}
		return b.String() + tail + "\n"
	}
	return map[string]string{
		"a bomb":                     strings.Repeat("- ", n/2),
		"unknown settings":           each(1, "", "a#: b\n", ""),
		"unknown settings, one line": each(1, "{", "a#: b, ", "}"),
		"agents":                     each(1, "agents:\n", "  a#: {}\n", ""),
		"agents, one line":           each(1, "agents: {", "a#: {},", "}"),
		"models":                     each(1, "models:\n", "  a#: {provider: openai, model: x}\n", ""),
		"plugins":                    each(1, "plugins:\n", "  a#: {path: x}\n", ""),
		"overrides":                  each(1, "overrides:\n", "- {provider: openai, context_window: 3}\n", ""),
		"wrong items":                each(1, "compaction:\n  observers: [", "[],", "]"),
		"patterns":                   each(1, "compaction:\n  redact: [", "a#,", "]"),
		"long patterns":              each(1, "compaction:\n  redact: [", "(a{1\\,1000}){1}#,", "]"),
		"patterns that repeat":       each(1, "compaction:\n  redact:\n", "  - (a{1,1000}){1}#\n", ""),
		"patterns with tables": each(1, "compaction:\n  redact:\n", "  - '"+strings.Repeat("\\pL", 600)+
			"#'\n", ""),
		"predicates":               each(1, "compaction:\n  always_keep: [", "{contains: a#},", "]"),
		"predicates with patterns": each(1, "compaction:\n  always_keep: [", "{matches: a#},", "]"),
		"knobs":                    each(1, "plugins: {a: {path: x, knobs: {", "k#: 1,", "}}}"),
		"prompts":                  each(1, "agents:\n", "  a#: {prompt: p#}\n", ""),
		"a prompt by many names":   each(1, "agents:\n", "  a#: {prompt: \"project:x\"}\n", ""),
		"agents with patterns": each(.5, "compaction:\n  redact: [", "a#,", "]") +
			each(.5, "agents:\n", "  a#: {}\n", ""),
		"agents with predicates": each(.5, "compaction:\n  always_keep: [", "{matches: a#},", "]") +
			each(.5, "agents:\n", "  a#: {}\n", ""),
		"agents with patterns and their own": each(.5, "compaction:\n  redact: [", "a#,", "]") +
			each(.5, "agents:\n", "  a#: {compaction: {max_tokens: 3}}\n", ""),
		"models and agents": each(.5, "models:\n", "  a#: {provider: openai, model: x}\n", "") +
			each(.5, "agents:\n", "  a#: {model: a#}\n", ""),
		"agents with observers": each(1, "agents:\n", "  a#: {compaction: {observers: [a, b]}}\n", ""),
		"plugins and observers": each(.5, "plugins:\n", "  a#: {path: x}\n", "") +
			each(.2, "compaction: {observers: [", "a#,", "]}") + each(.3, "agents:\n", "  b#: {}\n", ""),
		"helpers": each(1, "agents:\n  a: {}\n", "  a#: {compaction: {agent: a}}\n", ""),
		"agents in agents": "agents: " + strings.Repeat("{a: {agents: ", 25) +
			each(.9, "{", "a#: {},", "}") + strings.Repeat("}}", 25),
		"agents in agents with patterns": each(.5, "compaction:\n  redact: [", "a#,", "]") + "agents: " +
			strings.Repeat("{a: {agents: ", 25) + each(.4, "{", "a#: {},", "}") + strings.Repeat("}}", 25),
	}
}

func TestLoadCost(t *testing.T) {
	n := soak.Count(8<<10, 128<<10, 256<<10)
	for name, text := range bombs(n) {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), config.FileName)
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			var err error
			cost.Text.Check(t, name, len(text), func() { _, err = config.Load(path) })
			t.Logf("%.200v", err)
		})
	}
}

// TestLoadCostSearch looks for others.
func TestLoadCostSearch(t *testing.T) {
	fragments := slices.Concat(cost.YAML, []string{
		"compaction:\n", "  redact:\n  - ", "  always_keep:\n  - ", "matches: ", "contains: a\n", "  observers: [",
		"a{1,900}", "\\pL",
		"agents:\n", "  a" + cost.Count + ":\n", "  a" + cost.Count + ": {}\n", "prompt: p\n", "    compaction:\n",
		"model: a\n", "models:\n",
		"  m" + cost.Count + ": {provider: openai, model: x}\n", "plugins:\n", "  p" + cost.Count + ": {path: x",
		", knobs: {", "k" + cost.Count + ": ",
		"headers: {", "overrides:\n", "- {provider: openai, context_window: 3}\n", "base_url: http://a\n",
		"grants: {http: [", "limits: {",
	})
	dir := t.TempDir()
	path := filepath.Join(dir, config.FileName)
	for seed := range uint64(soak.Count(15, 500, 3_000)) {
		r := rand.New(rand.NewPCG(seed, 1))
		text := cost.Bomb(r, fragments, 1<<(12+r.IntN(6)))
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		cost.Text.Check(t, fmt.Sprintf("seed %d, %.60q", seed, text), len(text), func() { _, _ = config.Load(path) })
	}
}
