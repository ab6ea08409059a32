package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/config"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies"
)

// TestDefaultPromptIsWrittenWhereAProjectIsLoaded: who compacts or serves by a configuration finds the prompt of
// summaries beside it, whether it names models or not. One that is there stays, a dry run and settings without a file
// write none, and where it cannot be written nothing fails.
func TestDefaultPromptIsWrittenWhereAProjectIsLoaded(t *testing.T) {
	features.Proves(t, "K24")
	session := writeSession(t, 40)
	const place = ".kagewasm/prompts/compaction-summary.md"
	shipped := strategies.DefaultPrompt()
	type project struct{ dir, home string }
	run := func(t *testing.T, p project, args ...string) {
		t.Helper()
		var stderr bytes.Buffer
		e := env{stdin: strings.NewReader(""), stdout: new(bytes.Buffer), stderr: &stderr, stateHome: p.home}
		if code := doMain(t.Context(), args, e); code != 0 {
			t.Errorf("exit code %d: %s", code, stderr.String())
		}
	}
	compact := func(args ...string) func(*testing.T, project) {
		return func(t *testing.T, p project) {
			run(t, p, append([]string{"compact", session, "--window", "8000", "--out", filepath.Join(p.dir, "out")}, args...)...)
		}
	}
	const model = "models: {a: {provider: openai, model: m}}\ncompaction: {summarize: off}"
	for name, tc := range map[string]struct {
		yaml, there string
		load        func(*testing.T, project)
		want        string
	}{
		"compact":              {"{}", "", compact(), shipped},
		"compact, with models": {model, "", compact(), shipped},
		"it is the operator's": {"{}", "Mine.", compact(), "Mine."},
		"a dry run":            {"{}", "", compact("--dry-run"), ""},
		"no configuration":     {"{}", "", compact("--no-config"), ""},
		"no file of it":        {"", "", compact("--set", "compaction.max_tokens=5000"), ""},
		"the proxy": {"{}", "", func(t *testing.T, p project) {
			runProxy(t, "--upstream", "http://127.0.0.1:1", "--config", filepath.Join(p.dir, config.FileName))
		}, shipped},
		"the folder is no folder": {"{}", "", func(t *testing.T, p project) {
			if err := os.WriteFile(filepath.Join(p.dir, ".kagewasm"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			compact()(t, p)
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := project{t.TempDir(), t.TempDir()}
			t.Chdir(p.dir)
			write := func(name, text string) {
				if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if tc.yaml != "" {
				write(config.FileName, tc.yaml)
			}
			if tc.there != "" {
				write(place, tc.there)
			}
			tc.load(t, p)
			if text, _ := os.ReadFile(place); string(text) != tc.want {
				t.Errorf("it holds %q", text)
			}
		})
	}
}
