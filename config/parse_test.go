package config_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/config"
)

// TestErrorsSayWhere: whatever is wrong is said with line, column and what to
// do.
func TestErrorsSayWhere(t *testing.T) {
	for _, c := range []struct {
		why, yaml    string
		line, column int
		says         string
	}{
		{"unknown field", "compaction:\n  frobnicate: drop\n", 2, 3, `unknown field "frobnicate" in compaction: known are`},
		{"near name", "compaction:\n  uper_threshold: 0.9\n", 2, 3, `did you mean "upper_threshold"?`},
		{"swapped letters", "compaction:\n  prune: {protect_tokesn: 3}\n", 2, 11, `did you mean "protect_tokens"?`},
		{"at the top", "compactoin: {}\n", 1, 1, `did you mean "compaction"?`},
		{"half of a name with a dot", "plugins: {p: {path: p.wasm, grants: {compaction: {request: true}}}}\n", 1, 38,
			`did you mean "compaction.request"?`},
		{"in the wrong place", "compaction:\n  protect_tokens: 3\n", 2, 3, "it belongs under compaction.prune"},
		{"in the wrong place, deeper", "compaction:\n  summarize: {upper_threshold: 0.9}\n", 2, 15,
			"it belongs under compaction"},
		{"duplicate", "model: a\nmodel: b\n", 2, 1, "already defined"},
		{"duplicate in flow style", "compaction: {enabled: true, enabled: false}\n", 1, 29, "already defined"},
		{"duplicate in another form", "1: a\n\"1\": b\n", 2, 1, "already"},
		{"duplicate in what is free", "plugins: {a: {path: x, knobs: {k: {b: 1, \"b\": 2}}}}\n", 1, 42, "already"},
		{"a model without anything", "models:\n  a:\n", 2, 3, "no provider"},
		{"a knob without a value", "plugins: {a: {path: x, knobs: {k: }}}\n", 1, 32, "nothing behind k"},
		{"a text for a number", "compaction:\n  max_tokens: lots\n", 2, 15,
			"max_tokens is a text, where a whole number belongs"},
		{"a number for a truth", "compaction: {enabled: 1}\n", 1, 23, "enabled is a number, where true or false belongs"},
		{"yes for a truth", "compaction: {enabled: yes}\n", 1, 23, "write true or false"},
		{"a fraction for a whole number", "compaction: {max_tokens: 1.5}\n", 1, 26, "a whole number"},
		{"a text for a block", "compaction: hard\n", 1, 13, "compaction is a text, where a mapping belongs"},
		{"a text for a list", "compaction: {observers: a}\n", 1, 25, "a list"},
		{"a list for a text", "model: [a]\n", 1, 8, "model is a list, where a text belongs"},
		{"a mapping for a number", "context:\n  tokens: 3\n", 2, 3, "context is a mapping"},
		{"too large", "compaction: {upper_threshold: 1.5}\n", 1, 31, "over 0 and at most 1"},
		{"percent for a fraction", "compaction: {upper_threshold: 85}\n", 1, 31, "write 0.85 for 85 percent"},
		{"a fraction for percent", "compaction: {threshold: 0.8}\n", 1, 25, "write 80 for the fraction 0.8"},
		{"negative", "compaction: {max_tokens: -1}\n", 1, 26, "at least 0"},
		{"beyond any window", "context: 99999999999\n", 1, 10, "at most 2147483647"},
		{"beyond any number", "context: 99999999999999999999\n", 1, 10, "whole number"},
		{"not finite", "compaction: {idle_upper: .inf}\n", 1, 26, "no finite number"},
		{"unknown choice", "compaction: {strategy: dorp}\n", 1, 24, `did you mean "drop"?`},
		{"unknown profile", "compaction: {profile: moon}\n", 1, 23, "conservative"},
		{"unknown outline", "compaction: {summarize: {outline: x}}\n", 1, 35, "handoff"},
		{"duration without unit", "compaction: {summarize: {timeout: 30}}\n", 1, 35, "such as 90s"},
		{"no duration", "compaction: {summarize: {timeout: soon}}\n", 1, 35, "such as 90s"},
		{"no time at all", "compaction: {summarize: {timeout: 0s}}\n", 1, 35, "over 0"},
		{"nothing behind a setting", "compaction:\n  upper_threshold:\n", 2, 3, "~ for the default"},
		{"nothing in a list", "compaction:\n  observers: [~]\n", 2, 15, "nothing stands"},
		{"two spellings", "compaction: {upper_threshold: 0.8, threshold: 80}\n", 1, 36, "says the same as upper_threshold"},
		{"two spellings, deeper", "compaction:\n  keep_last_messages: 3\n  recent: {messages: 4}\n", 2, 3,
			"says the same as recent.messages"},
		{"anchor", "compaction: &a {enabled: true}\n", 1, 13, "what agents share is inherited"},
		{"alias", "model: *a\n", 1, 8, "what agents share is inherited"},
		{"merge", "compaction:\n  <<: {enabled: true}\n", 2, 3, "merge keys are not read"},
		{"tag", "model: !!str a\n", 1, 8, "tags are not read"},
		{"no name", "agents:\n  a/b: {}\n", 2, 3, "no name"},
		{"no plugin's name", "plugins:\n  Hind: {path: x}\n", 2, 3, "no name"},
		{"required", "models:\n  a: {provider: openai}\n", 2, 6, "no model"},
		{"unknown provider", "models:\n  a: {provider: opnai, model: x}\n", 2, 17, `did you mean "openai"?`},
		{"no table", "models: ~\nplugins:\n  a: ~\n", 3, 3, "take it out"},
		{"syntax", "compaction:\n\tenabled: true\n", 2, 1, "character"},
		{"unclosed", "model: \"a\n", 1, 8, "could not find end"},
		{"second document", "model: ~\n---\nmodel: ~\n", 3, 1, "second document"},
		{"a list as a whole", "- a\n", 1, 1, "list"},
		{"a key that is no text", "? [a]\n: b\n", 1, 3, "plain text"},
		{"bad pattern", "compaction: {redact: [\"a(\"]}\n", 1, 23, "missing closing"},
		{"pattern that matches everywhere", "compaction: {redact: [\"a*\"]}\n", 1, 23, "everywhere"},
		{"predicate that says nothing", "compaction: {always_keep: [{}]}\n", 1, 28, "would keep every message"},
		{"predicate of an empty text", "compaction: {always_keep: [{contains: \"\"}]}\n", 1, 28, "would keep every message"},
		{"unknown role", "compaction: {always_keep: [{role: robot}]}\n", 1, 35, "assistant"},
		{"bad predicate", "compaction: {always_keep: [{matches: \"[\"}]}\n", 1, 38, "missing closing"},
		{"override of nothing", "overrides: [{context_window: 3}]\n", 1, 13, "names a provider"},
		{"bad digest", "plugins: {a: {path: x, digest: sha256:12}}\n", 1, 32, "64 hexadecimal"},
		{"bad origin", "plugins: {a: {path: x, grants: {http: [\"http://a/b\"]}}}\n", 1, 40, "origin"},
		{"unknown capability", "plugins: {a: {path: x, grants: {kw: true}}}\n", 1, 33, `did you mean "kv"?`},
		{"unknown limit", "plugins: {a: {path: x, limits: {memory_gb: 1}}}\n", 1, 33, `did you mean "memory_mb"?`},
		{"no address", "models: {a: {provider: openai, model: m, base_url: localhost}}\n", 1, 52, "whole address"},
	} {
		t.Run(c.why, func(t *testing.T) { wantProblem(t, problems(t, c.yaml), c.line, c.column, c.says) })
	}
}

// TestErrorsAllAtOnce: one reading lists what is wrong, each with its line.
func TestErrorsAllAtOnce(t *testing.T) {
	ps := problems(t, "compaction:\n  enabled: 3\n  max_tokens: x\n  nope: 1\nmodle: a\n")
	if len(ps) != 4 {
		t.Fatalf("%d problems: %v", len(ps), ps)
	}
	if want := "  2 |   enabled: 3\n> 3 |   max_tokens: x\n    |               ^"; ps[1].Excerpt != want {
		t.Errorf("excerpt\n%s\nwant\n%s", ps[1].Excerpt, want)
	}
	if s := ps[1].String(); !strings.Contains(s, "kagewasm.yaml:3:15: max_tokens") {
		t.Errorf("problem %q", s)
	}
	long := "compaction:\n" + strings.Repeat("  - a\n", 3) + strings.Repeat("x", 2<<20)
	if ps := problems(t, long); len(ps) != 1 || !strings.Contains(ps[0].Message, "allowed") {
		t.Errorf("a file that is too long: %v", ps)
	}
	if ps := problems(t, "model: \xff\n"); len(ps) != 1 || !strings.Contains(ps[0].Message, "UTF-8") {
		t.Errorf("a file that is no text: %v", ps)
	}
	deep := strings.Repeat("[", 100) + strings.Repeat("]", 100)
	if ps := problems(t, "plugins: {a: {path: x, knobs: {k: "+deep+"}}}"); !strings.Contains(ps[0].Message, "nested") {
		t.Errorf("a file that nests too deep: %v", ps)
	}
}

// TestSecretsNeverInErrors: keys that people paste are refused, and do not show
// in what is said about it, nor beside another error.
func TestSecretsNeverInErrors(t *testing.T) {
	const secret = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz"
	for why, c := range map[string]struct{ yaml, says string }{
		"a key":              {"models: {a: {provider: openai, model: m, key: " + secret + "}}", "under key_env"},
		"an api_key":         {"models: {a: {provider: openai, model: m, api_key: plain0secret}}", "under key_env"},
		"a key for a name":   {"models: {a: {provider: openai, model: m, key_env: " + secret + "}}", "looks like a key"},
		"a key for an alias": {"model: " + secret, "no model"},
		"a key for a choice": {"compaction: {strategy: " + secret + "}", "known are"},
		"a lower-case name":  {"models: {a: {provider: openai, model: m, key_env: plain0secret}}", "in capitals"},
		"a header": {
			"models: {a: {provider: openai, model: m, headers: {Authorization: Bearer " + secret + "}}}",
			"under key_env"},
		"a key in some header": {"models: {a: {provider: openai, model: m, headers: {X-Whatever: " + secret + "}}}",
			"under key_env"},
		"a key in an address": {"models: {a: {provider: openai, model: m, base_url: \"https://u:plain0secret@host/\"}}",
			"under key_env"},
		"a secret of a plugin": {"plugins: {a: {path: x, secrets: {token: plain0secret}}}", "in capitals"},
		"an error on the line": {"models: {a: {provider: openai, model: m, nope: 1, key: plain0secret}}", "nope"},
		"an error below": {"models:\n  a:\n    provider: openai\n    model: m\n    password: plain0secret\n    nope: 1\n",
			"nope"},
		"an error in the syntax": {"key: plain0secret\nkey: 2\n", "already"},
	} {
		t.Run(why, func(t *testing.T) {
			err := problems(t, c.yaml).Error()
			if strings.Contains(err, secret) || strings.Contains(err, "plain0secret") {
				t.Errorf("the secret shows: %s", err)
			}
			if !strings.Contains(err, c.says) {
				t.Errorf("%s\ndoes not say %q", err, c.says)
			}
		})
	}
}

// TestNumbersStayVisible: what only sounds like a secret is shown.
func TestNumbersStayVisible(t *testing.T) {
	ps := problems(t, "compaction:\n  max_tokens: 30000\n  nope: 1\n")
	if !strings.Contains(ps[0].Excerpt, "max_tokens: 30000") {
		t.Errorf("excerpt %q", ps[0].Excerpt)
	}
}

func TestEmptyIsFine(t *testing.T) {
	for why, yaml := range map[string]string{
		"nothing": "", "a comment": "# none\n", "null": "~\n",
		"headings alone": "models:\ncompaction:\n  prune:\nagents:\n", "an empty mapping": "{}",
	} {
		t.Run(why, func(t *testing.T) {
			c := load(t, yaml)
			if a := c.Agent("any/path"); a == nil || a.Path != "" || a.Policy.When.Upper != 0 || a.Policy.Disabled {
				t.Errorf("%s: %+v", why, a)
			}
		})
	}
}

func TestFind(t *testing.T) {
	path := project(t, "", "a/b/c.txt", "")
	dir := filepath.Dir(path)
	for _, from := range []string{"", "a", "a/b"} {
		t.Run(fmt.Sprintf("from %q", from), func(t *testing.T) {
			got, err := config.Find(filepath.Join(dir, from))
			if err != nil || got != path {
				t.Errorf("from %q: %q, %v", from, got, err)
			}
		})
	}
	_, err := config.Find(t.TempDir())
	if !errors.Is(err, fs.ErrNotExist) || abi.CodeOf(err) != abi.CodeBadInput || abi.AsError(err).Hint == "" {
		t.Errorf("where there is none: %v", err)
	}
	if goruntime.GOOS != "windows" {
		if err := os.Chmod(path, 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := config.Find(dir); abi.CodeOf(err) != abi.CodeBadInput || !strings.Contains(err.Error(), "others") ||
			abi.AsError(err).Hint == "" {
			t.Errorf("one that anybody can write to: %v", err)
		}
		if _, err := config.Load(path); err != nil {
			t.Errorf("named, it is the operator's choice: %v", err)
		}
	}
	odd := t.TempDir()
	write(t, filepath.Join(odd, config.FileName, "x"), "")
	if _, err := config.Find(odd); abi.CodeOf(err) != abi.CodeBadInput || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("where it is a folder: %v", err)
	}
	if _, err := config.Load(filepath.Join(odd, config.FileName)); abi.CodeOf(err) != abi.CodeBadInput {
		t.Errorf("a folder: %v", err)
	}
}
