package config_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/config"
)

var commentedOut = regexp.MustCompile(`(?m)^( *)#([^ \n])`)

// uncommented is the sample with every setting in force.
func uncommented() string { return commentedOut.ReplaceAllString(string(config.Sample()), "$1$2") }

// TestSample: the sample loads as it is, where it says nothing, and with
// everything in it.
func TestSample(t *testing.T) {
	c := load(t, string(config.Sample()))
	if a := c.Agent(""); a.Policy.When.MaxTokens != 0 || len(c.Models) != 0 {
		t.Errorf("the sample says something: %+v", a)
	}
	all := load(t, uncommented(), "prompts/handover.md", "hand it over")
	if all.Agent("main/reviewer").Model != "fast" || all.Agent("").Compactor != "hindsight" {
		t.Errorf("agents %q", all.Agents())
	}
	for line := range strings.Lines(string(config.Sample())) {
		if len(strings.TrimSuffix(line, "\n")) > 110 && !strings.Contains(line, "sha256") {
			t.Errorf("a line of %d characters: %s", len(line), line)
		}
	}
}

// validator checks documents with the schema, as an editor does.
func validator(t testing.TB) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(config.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource(config.SchemaID, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(config.SchemaID)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func asJSON(t testing.TB, text string) any {
	t.Helper()
	var says any
	if err := yaml.Unmarshal([]byte(text), &says); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(says)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// TestSchemaAgrees: what loads satisfies the schema, and what the schema can
// see to be wrong does not.
func TestSchemaAgrees(t *testing.T) {
	s := validator(t)
	for why, text := range map[string]string{
		"the sample": string(config.Sample()), "all of it": uncommented(), "a family": family,
		"other spellings": "compaction: {threshold: 80, trim_threshold: 50, trim_max_tokens: 0, keep_last_messages: 10, " +
			"keep_recent_tokens: 5, chunks: 2, tool_result_max_length: 0}",
		"off":        "compaction: {trim: off, prune: off, summarize: on, redact: off, ledger_tokens: off}",
		"defaults":   "model: ~\ncompaction: {upper_threshold: ~, strategy: ~, prune: ~}",
		"predicates": "compaction: {always_keep: [{kind: '', meta: {a: [1]}}]}",
	} {
		t.Run(why, func(t *testing.T) {
			if err := config.Check("k.yaml", []byte(text)); err != nil {
				t.Errorf("%s: %v", why, err)
			}
			if err := s.Validate(asJSON(t, text)); err != nil {
				t.Errorf("%s: %v", why, err)
			}
		})
	}
	for why, text := range map[string]string{
		"an unknown field": "compaction: {nope: 1}", "a wrong type": "compaction: {max_tokens: x}",
		"out of range": "compaction: {upper_threshold: 85}",
		"exclusive":    "compaction: {upper_threshold: 0}", "a choice": "compaction: {strategy: x}",
		"required": "models: {a: {provider: openai}}",
		"a name":   "agents: {'a/b': {}}", "deep in the tree": "agents: {a: {subagents: {b: {subagents: {c: {nope: 1}}}}}}",
		"a list": "compaction: {compactor: [a]}", "a key": "models: {a: {provider: openai, model: m, key: k}}",
		"a duration": "compaction: {summarize: {timeout: soon}}",
	} {
		t.Run(why, func(t *testing.T) {
			if config.Check("k.yaml", []byte(text)) == nil {
				t.Errorf("%s: the parser takes it", why)
			}
			if s.Validate(asJSON(t, text)) == nil {
				t.Errorf("%s: the schema takes it", why)
			}
		})
	}
}

func TestSchemaIsStable(t *testing.T) {
	if !bytes.Equal(config.Schema(), config.Schema()) || !json.Valid(config.Schema()) {
		t.Error("two schemas, or none")
	}
}

func TestInit(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "project")
	wrote, err := config.Init(dir)
	if err != nil || len(wrote) != 3 {
		t.Fatalf("wrote %q, %v", wrote, err)
	}
	for _, path := range wrote {
		if info, err := os.Stat(path); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", path, err)
		}
	}
	if first, _, _ := strings.Cut(read(t, filepath.Join(dir, config.FileName)),
		"\n"); first != "# yaml-language-server: $schema="+config.SchemaFile {
		t.Errorf("first line %q", first)
	}
	if read(t, filepath.Join(dir, config.SchemaFile)) != string(config.Schema()) {
		t.Error("another schema")
	}
	if _, err := config.Load(filepath.Join(dir, config.FileName)); err != nil {
		t.Error(err)
	}
	write(t, filepath.Join(dir, config.FileName), "model: ~\n")
	if wrote, err := config.Init(dir); abi.CodeOf(err) != abi.CodeBadInput || len(wrote) != 0 || read(t,
		filepath.Join(dir, config.FileName)) != "model: ~\n" {
		t.Errorf("over a configuration: wrote %q, %v", wrote, err)
	}
	for _, missing := range wrote[:2] { // the prompt, and the schema
		if err := os.Remove(missing); err != nil {
			t.Fatal(err)
		}
		again, err := config.Init(dir)
		if err != nil || len(again) != 1 || again[0] != missing ||
			read(t, filepath.Join(dir, config.FileName)) != "model: ~\n" {
			t.Errorf("without %s: wrote %q, %v", missing, again, err)
		}
	}
	file := filepath.Join(dir, config.FileName)
	if _, err := config.Init(file); abi.CodeOf(err) != abi.CodeBadInput {
		t.Errorf("into a file: %v", err)
	}
}
