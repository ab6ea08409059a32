package config_test

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/config"
	"github.com/kagewasm/kagewasm/internal/features"
)

func explain(t testing.TB, c *config.Config, agent string, sets ...string) map[string]config.Setting {
	t.Helper()
	x, err := c.Explain(agent, sets...)
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string]config.Setting)
	for _, s := range x.Settings {
		out[s.Name] = s
	}
	return out
}

func TestExplain(t *testing.T) {
	features.Proves(t, "T1")
	c := load(t, `models: {m: {provider: ollama, model: x, context: 4096}}
compaction:
  threshold: 80
  profile: gemini
agents:
  main:
    model: m
    compaction: {max_tokens: 5}
    subagents:
      sub:
        compaction: {background: true, max_bytes: ~, ledger_tokens: 0}
`)
	got := explain(t, c, "main/sub", "compaction.reserve_tokens=9")
	for _, want := range []struct {
		name   string
		value  any
		source string
	}{
		{"model", "m", "kagewasm.yaml:7:5, inherited from main"},
		{"context", 4096, "model m (kagewasm.yaml:1:42), as context"},
		{"compaction.upper_threshold", 0.8, "kagewasm.yaml:3:3, as threshold, inherited from the top"},
		{"compaction.lower_threshold", 0.4, "profile gemini"},
		{"compaction.profile", "gemini", "kagewasm.yaml:4:3, inherited from the top"},
		{"compaction.max_tokens", 5, "kagewasm.yaml:8:18, inherited from main"},
		{"compaction.background", true, "kagewasm.yaml:11:22"},
		{"compaction.max_bytes", 0, "default (kagewasm.yaml:11:40)"},
		{"compaction.ledger_tokens", "off", "kagewasm.yaml:11:54"},
		{"compaction.reserve_tokens", 9, "--set compaction.reserve_tokens"},
		{"compaction.recent.tokens", kagewasm.DefaultKeepRecentTokens, "default"}, // as reserve_tokens is set
		{"compaction.strategy", "drop", "default"},
		{"compaction.prune.protect_tokens", 40000, "default"},
		{"compaction.summarize.timeout", "5m", "default"},
		{"compaction.compactor", nil, "default"},
	} {
		t.Run(want.name, func(t *testing.T) {
			s, ok := got[want.name]
			if !ok || !reflect.DeepEqual(s.Value, want.value) || s.Source.String() != want.source || s.Doc == "" {
				t.Errorf("%s is %#v by %q, want %#v by %q", want.name, s.Value, s.Source, want.value, want.source)
			}
		})
	}
	x, err := c.Explain("sub/new")
	if err != nil || x.Agent != "sub/new" || x.Known != "main/sub" || x.Writer.By != "none" ||
		filepath.Base(x.File) != config.FileName {
		t.Errorf("%+v, %v", x, err)
	}
}

// TestProfiles: thresholds of the profiles, where none are set.
func TestProfiles(t *testing.T) {
	features.Proves(t, "I3")
	for _, p := range kagewasm.Profiles() {
		got := explain(t, load(t, "compaction: {profile: "+p.Name+"}"), "")
		upper, lower := got["compaction.upper_threshold"], got["compaction.lower_threshold"]
		if upper.Value != p.Upper || lower.Value != p.Lower || upper.Source.Name != p.Name {
			t.Errorf("profile %s: %v and %v by %s", p.Name, upper.Value, lower.Value, upper.Source)
		}
		policy := load(t, "compaction: {profile: "+p.Name+"}").Policy("")
		if policy.When.Profile != p.Name || policy.When.Upper != 0 {
			t.Errorf("policy %+v", policy)
		}
	}
	if p := load(t, "compaction: {profile: auto}").Policy(""); p.When.Profile != kagewasm.ProfileAuto {
		t.Errorf("auto is %q", p.When.Profile)
	}
}

// TestSetsChangeNothing: settings for one time are on top of the file, are
// checked as if they stood there, and leave it as it is.
func TestSetsChangeNothing(t *testing.T) {
	features.Proves(t, "K26")
	c := load(t, "models: {m: {provider: openai, model: x, context_window: 7}}\n"+
		"compaction: {lower_threshold: 0.5, agent: w}\nagents: {w: {}}\n", "p.md", "for once")
	a, err := c.With("", "compaction.threshold=90", "compaction.summarize=off", "model=m",
		"compaction.always_keep=[{role: tool}]")
	if err != nil {
		t.Fatal(err)
	}
	if a.Policy.When.Upper != 0.9 || a.Policy.When.Lower != 0.5 || !a.Policy.Summarize.Off || a.Model != "m" ||
		a.Window != 7 || len(a.Policy.Keep.Always) != 1 {
		t.Errorf("%+v", a)
	}
	if b := c.Agent(""); b.Policy.When.Upper != 0 || b.Policy.Summarize.Off || b.Model != "" {
		t.Errorf("the configuration changed: %+v", b)
	}
	a, err = c.With("", "prompt=project:/p.md")
	if err != nil || a.Policy.Summarize.Prompt != "for once" || a.Writer.By != "prompt" {
		t.Errorf("%+v, %v", a, err)
	}
	for _, bad := range []struct{ field, value, says string }{
		{"compaction.uper_threshold", "1", `did you mean "compaction.upper_threshold"`},
		{"compaction.upper_threshold", "0.4", "lower_threshold has to be less"},
		{"compaction.upper_threshold", "x", "a number belongs"},
		{"compaction.max_tokens", "", "give a whole number"},
		{"compaction.compactor", "gone", "no plugin"},
		{"compaction.strategy", "a: {b", "--set compaction.strategy"},
		{"compaction.strategy", "a=b", "a=b"},
		{"subagents", "{}", "no setting"},
		{"model.x", "1", "no setting"},
		{"prompt", "project:/../x", "prompt"},
		{"prompt", "project:/gone.md", "prompt"},
	} {
		t.Run(bad.field+"="+bad.value, func(t *testing.T) {
			_, err := c.With("", bad.field+"="+bad.value)
			if abi.CodeOf(err) != abi.CodeBadInput || !strings.Contains(err.Error(), bad.says) {
				t.Errorf("%s=%s: %v", bad.field, bad.value, err)
			}
		})
	}
	for _, s := range []string{"nothing", "=1", ""} {
		t.Run(fmt.Sprintf("%q", s), func(t *testing.T) {
			if _, err := c.With("", s); abi.CodeOf(err) != abi.CodeUsage {
				t.Errorf("%q: %v", s, err)
			}
		})
	}
}

// TestDefaults: a configuration that says nothing
// has the documented defaults, a summary with the agent's own model among them.
func TestDefaults(t *testing.T) {
	features.Proves(t, "K25", "K20", "K23", "A1", "A13")
	c := load(t, "")
	got := explain(t, c, "")
	for name, want := range map[string]any{
		"compaction.strategy":                         "drop",
		"compaction.summarize.off":                    false,
		"compaction.summarize.model":                  nil,
		"compaction.summarize.prompt":                 config.DefaultPrompt,
		"compaction.summarize.window_messages":        20,
		"compaction.summarize.preserve_recent":        10,
		"compaction.summarize.max_summary_tokens":     1500,
		"compaction.summarize.tool_result_max_length": 200,
		"compaction.prune.protect_tokens":             40_000,
		"compaction.prune.minimum_savings":            20_000,
		"compaction.prune.protected_tools":            []any{"read", "skill"},
		"compaction.prune.mode":                       "off",
		"compaction.prune.protect_percent":            30,
		"compaction.prune.arg_threshold":              200,
		"compaction.trim.threshold":                   0.5,
		"compaction.upper_threshold":                  0.85,
		"compaction.lower_threshold":                  0.6,
		"compaction.enabled":                          true,
	} {
		t.Run(name, func(t *testing.T) {
			if s := got[name]; !reflect.DeepEqual(s.Value, want) || s.Source.Kind != "default" {
				t.Errorf("%s is %#v by %s, want %#v", name, s.Value, s.Source, want)
			}
		})
	}
	if w := c.Agent("").Writer; w != (config.Writer{By: "none", Prompt: config.DefaultPrompt}) {
		t.Errorf("writer %+v", w)
	}
}

// TestExplainAuto: with the profile auto the thresholds are those of the family of the agent's model.
func TestExplainAuto(t *testing.T) {
	got := explain(t, load(t, "models: {m: {provider: openai, model: gemini-2.5-pro}}\nmodel: m\n"+
		"compaction: {profile: auto}"), "")
	for name, want := range map[string]float64{"compaction.upper_threshold": 0.5, "compaction.lower_threshold": 0.4} {
		if s := got[name]; s.Value != want || s.Source.String() != "profile auto" {
			t.Errorf("%s is %v by %s, not %v", name, s.Value, s.Source, want)
		}
		if s := explain(t, load(t, "compaction: {profile: auto}"), "")[name]; s.Value != nil ||
			s.Source.String() != "profile auto" {
			t.Errorf("of a model that is not known %s is %v by %s", name, s.Value, s.Source)
		}
	}
}

// TestExplainRounds: fractions that follow from others are told as a person can read them.
func TestExplainRounds(t *testing.T) {
	got := explain(t, load(t, "compaction: {upper_threshold: 0.5}"), "")
	for name, want := range map[string]float64{"compaction.lower_threshold": 0.3529, "compaction.idle_upper": 0.4265} {
		if got[name].Value != want {
			t.Errorf("%s is %v, not %v", name, got[name].Value, want)
		}
	}
}
