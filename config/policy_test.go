package config_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies"
)

// TestEverySettingTakesEffect: each setting reaches the policy, or the names
// around it, and each field of a policy has a setting.
func TestEverySettingTakesEffect(t *testing.T) {
	c := load(t, "models: {m: {provider: openai, model: x}}\nplugins: {p: {path: p}}\nagents: {a: {model: m}}\n", "p.md",
		"another prompt")
	values := map[string]string{ // where the first that fits is not one
		"model": "m", "compaction.summarize.model": "m", "compaction.summarize.fast_model": "m", "compaction.agent": "a",
		"compaction.compactor": "p", "compaction.observers": "[p]", "prompt": "project:/p.md",
		"compaction.summarize.prompt": "project:/p.md",
		"compaction.enabled":          "false", "compaction.note": "plugin", "compaction.recovery": "descend",
		"compaction.strategy": "checkpoint", "compaction.profile": "grok",
		"compaction.summarize.outline": "continuation",
		"compaction.prune.mode":        "iteration", "compaction.always_keep": "[{role: tool}]", "compaction.redact": "[x]",
		"compaction.lower_threshold":       "0.3",
		"compaction.prune.protected_tools": "[]", "compaction.summarize.timeout": "3s",
	}
	x, err := c.Explain("")
	if err != nil {
		t.Fatal(err)
	}
	plain := fmt.Sprintf("%+v", *c.Agent(""))
	covered := make(map[string]bool)
	for _, s := range x.Settings {
		value := values[s.Name]
		for _, try := range []string{"7", "true", "0.7"} {
			if _, err := c.With("", s.Name+"="+try); value == "" && err == nil {
				value = try
			}
		}
		a, err := c.With("", s.Name+"="+value)
		if err != nil {
			t.Errorf("%s: %v", s.Name, err)
			continue
		}
		if fmt.Sprintf("%+v", *a) == plain {
			t.Errorf("%s: %s changes nothing", s.Name, value)
		}
		if err := a.Policy.Check(); err != nil {
			t.Errorf("%s: the policy is refused: %v", s.Name, err)
		}
		nonzero(reflect.ValueOf(a.Policy), "", covered)
	}
	p, err := c.With("", "compaction.redact=off")
	if err != nil {
		t.Fatal(err)
	}
	nonzero(reflect.ValueOf(p.Policy), "", covered)
	covered[".Keep.OnePiece"] = true // of a host, which says so with each request: [kagewasm.Overrides]
	for name := range leaves(reflect.TypeFor[kagewasm.Policy](), "") {
		if !covered[name] {
			t.Errorf("nothing sets Policy%s", name)
		}
	}
}

// nonzero collects the fields that are set.
func nonzero(v reflect.Value, path string, into map[string]bool) {
	if v.Kind() != reflect.Struct {
		if !v.IsZero() {
			into[path] = true
		}
		return
	}
	for i := range v.NumField() {
		nonzero(v.Field(i), path+"."+v.Type().Field(i).Name, into)
	}
}

func leaves(typ reflect.Type, path string) map[string]bool {
	out := make(map[string]bool)
	for f := range typ.Fields() {
		if f.Type.Kind() != reflect.Struct {
			out[path+"."+f.Name] = true
			continue
		}
		for name := range leaves(f.Type, path+"."+f.Name) {
			out[name] = true
		}
	}
	return out
}

// TestZeroMeansZero: where a policy takes 0 for its default, 0 is written -1.
func TestZeroMeansZero(t *testing.T) {
	p := load(t, `compaction:
  ledger_tokens: 0
  message_tokens: off
  prune: {protect_tokens: 0, minimum_savings: off, protect_percent: 0, arg_threshold: 0}
  summarize: {preserve_recent: 0, tool_result_max_length: 0}
`).Policy("")
	want := strategies.PruneConfig{ProtectTokens: -1, MinimumSavings: -1, ProtectPercent: -1, ArgThreshold: -1}
	if p.Note.Tokens != -1 || p.Keep.MessageTokens != -1 || !reflect.DeepEqual(p.Prune, want) ||
		p.Summarize.PreserveRecent != -1 || p.Summarize.ToolResultChars != -1 {
		t.Errorf("%+v", p)
	}
}

// TestAuraSpellings: Aura's own file means here what it
// means there.
func TestAuraSpellings(t *testing.T) {
	features.Proves(t, "A2", "A3", "A9", "A13", "T1")
	p := load(t, `compaction:
  threshold: 80
  max_tokens: 0
  trim_threshold: 50
  trim_max_tokens: 0
  keep_last_messages: 10
  chunks: 1
  tool_result_max_length: 200
  prune: {mode: "compaction", protect_percent: 30, arg_threshold: 200}
`).Policy("")
	want := kagewasm.Policy{When: kagewasm.When{Upper: 0.8},
		Prune: strategies.PruneConfig{Trim: strategies.TrimConfig{Threshold: 0.5},
			Arguments: strategies.ArgumentsCompaction, ProtectPercent: 30, ArgThreshold: 200},
		Keep: strategies.KeepConfig{Messages: 10}, Summarize: strategies.SummarizeConfig{Chunks: 1, ToolResultChars: 200,
			Prompt: p.Summarize.Prompt}}
	if !reflect.DeepEqual(p, want) {
		t.Errorf("got  %+v\nwant %+v", p, want)
	}
	if ps := problems(t, "compaction: {prompt: Compaction}\n"); !strings.Contains(ps[0].Message, "agents.NAME") {
		t.Errorf("its prompt stands elsewhere here: %v", ps)
	}
	// tau's two settings, and T5's.
	p = load(t, "compaction: {enabled: false, reserve_tokens: 8192, keep_recent_tokens: 16384, "+
		"summarize: {serial: true, timeout: 2m}}").Policy("")
	if !p.Disabled || p.When.ReserveTokens != 8192 || p.Keep.Tokens != 16384 || !p.Summarize.Serial ||
		p.Summarize.TimeoutMS != 120_000 {
		t.Errorf("%+v", p)
	}
}
