package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/state"
	"github.com/kagewasm/kagewasm/config"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/modeltest"
	"github.com/kagewasm/kagewasm/strategies/note"
	"github.com/kagewasm/kagewasm/tokens"
	"github.com/kagewasm/kagewasm/transcript"
)

// compactWith runs compact on a long session with a configuration, and returns
// the exit code, the report and what stands on standard error.
func compactWith(t *testing.T, yaml string, args ...string) (int, kagewasm.Report, string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"kagewasm.yaml": yaml, "session.jsonl": longSession(160)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var stdout, stderr bytes.Buffer
	report := filepath.Join(dir, "report.json")
	line := append([]string{"compact", filepath.Join(dir, "session.jsonl"), "--config",
		filepath.Join(dir, "kagewasm.yaml"), "--window", "8000",
		"--out", filepath.Join(dir, "out.jsonl"), "--report", report}, args...)
	code := doMain(t.Context(), line, env{stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr,
		stateHome: filepath.Join(dir, "home")})
	var r kagewasm.Report
	data, err := os.ReadFile(report)
	if err != nil {
		t.Fatalf("exit code %d: %s", code, stderr.String())
	}
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	return code, r, stderr.String()
}

// TestK23Configured: a model of the configuration writes the summary, with its
// price as a line of its own; where it fails the chain says how, and the
// mechanical summary stands in its place.
func TestConfigured(t *testing.T) {
	features.Proves(t, "K14", "K23")
	summary := note.Outlines()[0].Render(func(s note.Section) string { return "The " + s.Title + " is clear." })
	server := modeltest.New(t, modeltest.Answer{Text: summary, Input: 4000, Output: 300})
	yaml := `
models:
  small:
    provider: anthropic
    model: claude-haiku-4-5
    base_url: ` + server.URL(modeltest.Anthropic) + `
    key_env: KAGEWASM_TEST_KEY
    prices: {input: 1, output: 5}
model: small
`
	t.Setenv("KAGEWASM_TEST_KEY", "sk-ant-test")
	code, r, stderr := compactWith(t, yaml)
	if code != 0 || r.Strategy != kagewasm.StrategySummarize || r.Source.Type != abi.SourceModel ||
		!strings.Contains(r.Summary, "The Goal is clear.") {
		t.Fatalf("exit code %d, strategy %s, failures %v\n%s", code, r.Strategy, r.Failures, stderr)
	}
	if c := r.Cost; c.Usage == nil || c.Usage.Calls != 1 || c.Compactor < 0.0054 || c.Compactor > 0.0056 ||
		!strings.Contains(stderr, "$0.0055") {
		t.Errorf("cost %+v\n%s", r.Cost, stderr)
	}
	if n := len(server.Requests()); n != 1 {
		t.Errorf("%d requests", n)
	}
	if code, r, _ = compactWith(t, yaml, "--set", "compaction.summarize=off"); code != 0 ||
		r.Strategy != kagewasm.StrategyDrop || len(server.Requests()) != 1 {
		t.Errorf("switched off: exit code %d, strategy %s", code, r.Strategy)
	}
	t.Setenv("KAGEWASM_TEST_KEY", "")
	code, r, stderr = compactWith(t, yaml, "--strategy", "summarize")
	if code != 0 || r.Strategy != kagewasm.StrategyDrop || !r.Fallback || len(r.Failures) != 1 ||
		r.Failures[0].Code != abi.CodeUnauthorized || !strings.Contains(stderr, "KAGEWASM_TEST_KEY") {
		t.Errorf("without the key: exit code %d, strategy %s, %v\n%s", code, r.Strategy, r.Failures, stderr)
	}
}

// TestInstructionsAreAPersons: over the threshold the fast model writes the summary, and the full one for somebody who
// says what to keep, with force or without it.
func TestInstructionsAreAPersons(t *testing.T) {
	features.Proves(t, "I9")
	summary := note.Outlines()[0].Render(func(s note.Section) string { return "The " + s.Title + " is clear." })
	server := modeltest.New(t, modeltest.Answer{Text: summary, Input: 4000, Output: 300})
	url := strconv.Quote(server.URL(modeltest.OpenAI))
	yaml := "models:\n  full: {provider: openai, model: m-full, base_url: " + url + "}\n  fast: {provider: openai, " +
		"model: m-fast, base_url: " + url + "}\nmodel: full\ncompaction: {summarize: {fast_model: fast}}\n"
	for _, tc := range []struct {
		model string
		args  []string
	}{
		{"m-fast", nil},
		{"m-full", []string{"--instructions", "keep FOCUSWORD"}},
		{"m-full", []string{"--instructions", "keep FOCUSWORD", "--force"}},
		{"m-full", []string{"--force"}},
		{"m-fast", []string{"--force", "--reason", "threshold"}},
		{"m-fast", []string{"--instructions", "keep FOCUSWORD", "--reason", "agent"}},
	} {
		asked := len(server.Requests())
		code, r, stderr := compactWith(t, yaml, tc.args...)
		got := server.Requests()[asked:]
		if code != 0 || !r.Compacted || len(got) != 1 || got[0].Model != tc.model {
			t.Errorf("%v: exit code %d, %d requests: %+v\n%s", tc.args, code, len(got), got, stderr)
		}
	}
	asked := len(server.Requests())
	if code, r, _ := compactWith(t, yaml, "--instructions", "keep FOCUSWORD", "--window", "1000000"); code != 0 ||
		r.Compacted || r.ReasonCode != abi.ReasonBelowThreshold || len(server.Requests()) != asked {
		t.Errorf("below the threshold: exit code %d, %s", code, r.ReasonCode)
	}
}

// TestWhichModelIsAsked: where the agent names none the only one is its own; of
// several none is guessed, and what is missing is said.
func TestWhichModelIsAsked(t *testing.T) {
	summary := note.Outlines()[0].Render(func(s note.Section) string { return "The " + s.Title + " is clear." })
	const first, second = "  first: {provider: openai, model: m-1, base_url: %q}\n", "  second: {provider: openai, " +
		"model: m-2, base_url: %q}\n"
	for _, tc := range []struct {
		why, models, own string
		asked            int
	}{
		{"the only one", first, "", 1},
		{"none of two", first + second, "", 0},
		{"the one that is named", first + second, "model: second\n", 1},
	} {
		t.Run(tc.why, func(t *testing.T) {
			server := modeltest.New(t, modeltest.Answer{Text: summary, Input: 4000, Output: 300})
			url := server.URL(modeltest.OpenAI)
			yaml := "models:\n" + strings.ReplaceAll(tc.models, "%q", strconv.Quote(url)) + tc.own
			code, r, stderr := compactWith(t, yaml)
			if code != 0 || !r.Compacted || len(server.Requests()) != tc.asked {
				t.Errorf("%s: exit code %d, strategy %s, %d requests, %v", tc.why, code, r.Strategy, len(server.Requests()),
					r.Failures)
			}
			if tc.asked == 0 && (len(r.Failures) != 1 || r.Failures[0].Code != abi.CodeUsage ||
				!strings.Contains(r.Failures[0].Hint, "first, second; name one with model:")) {
				t.Errorf("%s: %+v\n%s", tc.why, r.Failures, stderr)
			}
		})
	}
}

// TestOnACommandLine: nobody can be asked, so a checkpoint stays one, unless it was
// approved beforehand.
func TestOnACommandLine(t *testing.T) {
	features.Proves(t, "K29")
	code, r, stderr := compactWith(t, "{}", "--strategy", "checkpoint")
	if code != 0 || r.Compacted || r.ReasonCode != abi.ReasonPending || !strings.Contains(stderr, "nothing is written") {
		t.Errorf("exit code %d, %s\n%s", code, r.Reason, stderr)
	}
	code, r, stderr = compactWith(t, "{}", "--strategy", "checkpoint", "--yes")
	if code != 0 || !r.Compacted || r.ReasonCode != abi.ReasonCompacted || !strings.Contains(stderr, "written to") {
		t.Errorf("exit code %d, %s\n%s", code, r.Reason, stderr)
	}
}

// TestContextOfAnAgent: how large a context an agent's configuration says is what
// Ollama loads the agent's model with, before what the model says; other models keep
// their own.
func TestContextOfAnAgent(t *testing.T) {
	features.Proves(t, "A7")
	for name, tc := range map[string]struct {
		agent string
		want  int
	}{
		"the agent's":                    {"context: 24576", 24576},
		"the model's where it says none": {"", 16384},
		"another model's stays as it is": {"context: 24576\ncompaction: {summarize: {model: other}}", 4096},
	} {
		t.Run(name, func(t *testing.T) {
			server := modeltest.New(t, modeltest.Answer{Text: "no"})
			model := "{provider: ollama, model: m, base_url: " + server.URL(modeltest.Ollama) + ", context_window: "
			compactWith(t, "models:\n  local: "+model+"16384}\n  other: "+model+"4096}\nmodel: local\n"+tc.agent+"\n")
			list := server.Requests()
			if len(list) == 0 || list[0].NumCtx != tc.want {
				t.Errorf("%d requests, the first: %+v", len(list), list)
			}
		})
	}
}

// TestOverrideForOllama: the window that an override gives a model is what Ollama loads it with, before that the
// alias's and before both the agent's; without any, Ollama is left to itself.
func TestOverrideForOllama(t *testing.T) {
	features.Proves(t, "A7")
	for name, tc := range map[string]struct {
		yaml, alias string
		want        int
	}{
		"of the model":         {"overrides: [{model: llama3.1, maxInputTokens: 22000}]", "", 22000},
		"of the provider":      {"overrides: [{provider: ollama, context: 23000}]", "", 23000},
		"of another model":     {"overrides: [{model: qwen3, context: 22000}]", "", 0},
		"none":                 {"", "", 0},
		"the alias goes first": {"overrides: [{model: llama3.1, context: 22000}]", ", context: 16384", 16384},
		"the agent goes first": {"context: 24576\noverrides: [{model: llama3.1, context: 22000}]", "", 24576},
	} {
		t.Run(name, func(t *testing.T) {
			server := modeltest.New(t, modeltest.Answer{Text: "no"})
			compactWith(t, "models: {o: {provider: ollama, model: llama3.1, base_url: \""+
				server.URL(modeltest.Ollama)+"\""+tc.alias+"}}\n"+tc.yaml+"\n")
			list := server.Requests()
			if len(list) == 0 || list[0].NumCtx != tc.want {
				t.Errorf("%d requests, want num_ctx %d, the first: %+v", len(list), tc.want, list)
			}
		})
	}
}

// TestAConfiguredContextWins: the context of an agent is its window whatever model is named, on the command line or by
// the session; the window of an alias is its model's alone; and --window goes before all.
func TestAConfiguredContextWins(t *testing.T) {
	features.Proves(t, "A7")
	const models = "models:\n  a: {provider: ollama, model: llama3.1, context_window: 16384}\n" +
		"  b: {provider: ollama, model: llama3.1, context_window: 4096}\nmodel: a\n"
	const context = "context: 20000\n"
	gpt := *tokens.Default().Resolve("gpt-4o").ContextWindow
	for _, tc := range []struct {
		yaml, model, flag string
		want              int // 0: not known
	}{
		{context, "", "", 20000},
		{context, "gpt-4o", "", 20000},
		{context, "", "gpt-4o", 20000},
		{context, "", "nobody-knows", 20000},
		{context + models, "", "", 20000},
		{context + models, "", "b", 20000},
		{models, "gpt-4o", "", 16384}, // the agent's model, whatever the session says
		{models, "", "a", 16384},
		{models, "", "b", 4096},
		{models, "", "llama3.1", 16384},
		{models, "", "gpt-4o", gpt},
		{models, "", "nobody-knows", 0},
		{"overrides: [{model: gpt-4o, context: 30000}]\n", "", "gpt-4o", 30000},
		{context + "overrides: [{model: gpt-4o, context: 30000}]\n", "", "gpt-4o", 20000},
	} {
		path := filepath.Join(t.TempDir(), "kagewasm.yaml")
		if err := os.WriteFile(path, []byte(tc.yaml), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := config.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		f, conf := &compactFlags{model: tc.flag}, configured{file: c, agent: c.Agent("")}
		f.given = func(string) bool { return false }
		s := &transcript.Session{Model: tc.model}
		got := 0
		if w := f.resolve(s, conf).ContextWindow; w != nil {
			got = *w
		}
		if got != tc.want {
			t.Errorf("session %q, --model %q: window %d, want %d\n%s", tc.model, tc.flag, got, tc.want, tc.yaml)
		}
		f.given, f.window = func(flag string) bool { return flag == "window" }, 9000
		if w := f.resolve(s, conf).ContextWindow; w == nil || *w != 9000 {
			t.Errorf("session %q, --model %q: --window 9000 does not hold\n%s", tc.model, tc.flag, tc.yaml)
		}
	}
}

// TestTheStatedWindowIsTold: who compacts hears that a window is what a provider said, and it is forgotten after a
// month.
func TestTheStatedWindowIsTold(t *testing.T) {
	kept := filepath.Join(t.TempDir(), "state")
	st, err := state.Open(kept, "", func(string) {})
	if err == nil {
		err = errors.Join(st.SetWindow("house-1", 9000), st.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	session := writeSession(t, 40)
	window := func(args ...string) (int, bool) {
		t.Helper()
		var stdout, stderr bytes.Buffer
		e := env{stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr}
		code := doMain(t.Context(), append([]string{"compact", session, "--model", "house-1", "--no-config", "--no-record",
			"--dry-run", "--json", "--state", kept}, args...), e)
		var r kagewasm.Report
		if err := json.Unmarshal(stdout.Bytes(), &r); err != nil || code != 0 {
			t.Fatalf("exit %d, %v: %s", code, err, stderr.String())
		}
		return r.Window, strings.Contains(stderr.String(), "tokens, as its provider said")
	}
	if n, told := window(); n != 9000 || !told {
		t.Errorf("window %d, told %t", n, told)
	}
	if n, told := window("--window", "8000"); n != 8000 || told {
		t.Errorf("by the flag: window %d, told %t", n, told)
	}
	files, err := filepath.Glob(filepath.Join(kept, "windows", "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%q, %v", files, err)
	}
	then := time.Now().Add(-31 * 24 * time.Hour)
	if err := os.Chtimes(files[0], then, then); err != nil {
		t.Fatal(err)
	}
	if n, told := window(); n == 9000 || told {
		t.Errorf("after a month: window %d, told %t", n, told)
	}
}

// TestTheStatedWindowIsKept: what a provider says that a model takes, whose window nobody
// knows, holds in the next run too: nothing is refused there.
func TestTheStatedWindowIsKept(t *testing.T) {
	features.Proves(t, "complaint 4")
	summary := note.Outlines()[0].Render(func(s note.Section) string { return "The " + s.Title + " is clear." })
	refused := 0
	server := modeltest.NewFunc(t, func(r modeltest.Request) modeltest.Answer {
		n := 0
		for _, m := range r.Messages {
			n += len(m.Content) / 4
		}
		if n > 5000 {
			refused++
			return modeltest.TooLong(n, 5000)
		}
		return modeltest.Answer{Text: summary}
	})
	where := `base_url: "` + server.URL(modeltest.Anthropic) + `", key_env: KAGEWASM_TEST_KEY}`
	yaml := `
models:
  main: {provider: anthropic, model: house-1, ` + where + `
  small: {provider: anthropic, model: house-2, ` + where + `
model: main
compaction: {summarize: {model: small}}
`
	t.Setenv("KAGEWASM_TEST_KEY", "sk-ant-test")
	kept := filepath.Join(t.TempDir(), "state")
	for run, want := range []int{1, 0} {
		refused = 0
		code, r, stderr := compactWith(t, yaml, "--state", kept, "--target", "2500")
		if code != 0 || r.Strategy != kagewasm.StrategySummarize || refused != want {
			t.Errorf("run %d: exit code %d, by %s, refused %d times, want %d: %v\n%s", run, code, r.Strategy, refused, want,
				r.Failures, stderr)
		}
	}
}
