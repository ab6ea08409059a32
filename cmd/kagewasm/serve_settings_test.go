//go:build unix

package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/servetest"
	"github.com/kagewasm/kagewasm/internal/service"
)

// TestServeSettings: a setting that an operator gives holds from the next look on, in the next
// server too, until it is taken back; what the configuration would not take is refused.
func TestServeSettings(t *testing.T) {
	home := filepath.Join(t.TempDir(), "state")
	s := serve(t, home, t.TempDir(), "--listen", "none", "--no-config")
	s.do(t, "POST", "/sessions", map[string]any{"id": "a", "context_window": 100_000}, nil)
	s.do(t, "POST", "/sessions/a/messages", map[string]any{"messages": servetest.Chat(40)}, nil)
	compacts := func() bool {
		var look service.Look
		s.do(t, "GET", "/sessions/a/context", nil, &look)
		return look.Report.Compacted
	}
	if compacts() {
		t.Fatal("it compacts by default")
	}
	set := func(name, value string) error {
		return s.Do(t.Context(), "PUT", "/settings", map[string]any{"values": map[string]string{name: value}}, nil)
	}
	for name, value := range map[string]string{"compaction.upper_threshold": "7", "compaction": "1", "none": "1"} {
		if err := set(name, value); abi.CodeOf(err) == "" || compacts() {
			t.Errorf("%s=%s: %v", name, value, err)
		}
	}
	if err := set("compaction.enabled", "false"); err != nil {
		t.Fatal(err)
	}
	s.interrupted(t)
	s = serve(t, home, t.TempDir(), "--listen", "none", "--no-config")
	var list struct{ Settings []service.Setting }
	s.do(t, "GET", "/settings", nil, &list)
	seen := false
	for _, one := range list.Settings {
		if one.Name == "compaction.enabled" {
			seen = one.Value == false && one.From == "set here" && one.Doc != ""
		} else if one.Set != "" {
			t.Errorf("%+v", one)
		}
	}
	if !seen {
		t.Errorf("%+v", list.Settings)
	}
	s.do(t, "DELETE", "/settings/compaction.enabled", nil, &list)
	s.do(t, "PUT", "/settings", map[string]any{"values": map[string]string{"compaction.upper_threshold": "0.004",
		"compaction.lower_threshold": "0.002"}}, nil)
	if !compacts() {
		t.Error("the threshold that was set does not hold")
	}
}

// TestServePrompt: a server without a configuration has the prompt that ships, by the name that the page shows, and
// says of others that there is no place for them.
func TestServePrompt(t *testing.T) {
	s := serve(t, filepath.Join(t.TempDir(), "state"), t.TempDir(), "--listen", "none", "--no-config")
	s.do(t, "POST", "/sessions", map[string]any{"id": "a", "context_window": 600}, nil)
	s.do(t, "POST", "/sessions/a/messages", map[string]any{"messages": servetest.Chat(30)}, nil)
	try := func(with map[string]any) error {
		with["dry_run"] = true
		return s.Do(t.Context(), "POST", "/sessions/a/compact", with, nil)
	}
	if err := try(map[string]any{"prompt": "config:/prompts/compaction-summary.md"}); err != nil {
		t.Errorf("the prompt that ships: %v", err)
	}
	for _, prompt := range []string{"nope", "../x", "/etc/passwd", "project:/x.md"} {
		err := try(map[string]any{"prompt": prompt})
		if abi.CodeOf(err) != abi.CodeUsage || !strings.Contains(err.Error(), "this server has none") {
			t.Errorf("prompt %s: %v", prompt, err)
		}
	}
	for _, agent := range []string{"nope", "main/nope"} {
		err := try(map[string]any{"agent_path": agent})
		if abi.CodeOf(err) != abi.CodeUsage || !strings.Contains(err.Error(), "there is no agent") {
			t.Errorf("agent %s: %v", agent, err)
		}
	}
}

// TestServeSettingsErrors: what is said of a setting that is not taken has no flag of the command line in it, and an
// agent that the configuration has not is none to set anything for.
func TestServeSettingsErrors(t *testing.T) {
	dir := t.TempDir()
	configure := func(text string) {
		if err := os.WriteFile(filepath.Join(dir, "kagewasm.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	configure("agents: {main: {subagents: {reviewer: {}}}}\n")
	s := serve(t, filepath.Join(t.TempDir(), "state"), dir, "--listen", "none", "--config", "kagewasm.yaml")
	put := func(agent, name, value string) error {
		return s.Do(t.Context(), http.MethodPut, "/settings?agent="+agent, map[string]any{"values": map[string]string{
			name: value}}, nil)
	}
	for _, c := range [][4]string{
		{"", "compaction.strategy", "nope", "compaction.strategy: "},
		{"", "compaction.upper_threshold", "7", "compaction.upper_threshold: "},
		{"", "compaction.none", "1", "compaction.none: no setting"},
		{"", "", "", "name a setting"},
		{"nope", "compaction.max_tokens", "100", "there is no agent \"nope\": the configuration has main, main/reviewer"},
	} {
		err := put(c[0], c[1], c[2])
		if err == nil || !strings.Contains(err.Error(), c[3]) || strings.Contains(err.Error(), "--set") ||
			abi.CodeOf(err) == abi.CodeInternal {
			t.Errorf("%q of agent %q: %v", c[1], c[0], err)
		}
	}
	if err := put("main/reviewer", "compaction.max_tokens", "100"); err != nil {
		t.Fatal(err)
	}
	configure("agents: {main: {}}\n")
	s.interrupted(t)
	s = serve(t, s.home, dir, "--listen", "none", "--config", "kagewasm.yaml")
	var list struct{ Settings []service.Setting }
	if s.do(t, "GET", "/settings?agent=main/reviewer", nil, &list); len(list.Settings) == 0 {
		t.Error("what is set for an agent that went from the configuration cannot be looked at")
	}
	s.do(t, "DELETE", "/settings/compaction.max_tokens?agent=main/reviewer", nil, nil)
	list.Settings = nil
	if s.do(t, "GET", "/settings?agent=main/reviewer", nil, &list); slices.ContainsFunc(list.Settings,
		func(one service.Setting) bool { return one.Set != "" }) {
		t.Error("it has settings still")
	}
}

// TestServeSettingsAreHeldToRoles: a plugin is given no role that its manifest has not, for all agents or one, as in
// the configuration's file; and a change for all that one agent does not take says whose setting is in the way.
func TestServeSettingsAreHeldToRoles(t *testing.T) {
	features.Proves(t, "K6")
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"observer", "summary", "drops"} {
		write(name+".wasm", string(misbehaving()[name]))
	}
	write("kagewasm.yaml", `
plugins: {kn: {path: observer.wasm}, keeper: {path: summary.wasm}, other: {path: drops.wasm}}
compaction: {upper_threshold: 0.8, lower_threshold: 0.5}
agents:
  main:
    subagents:
      reviewer: {compaction: {lower_threshold: 0.7}}
      fast: {}
`)
	s := serve(t, filepath.Join(t.TempDir(), "state"), dir, "--listen", "none", "--config", "kagewasm.yaml")
	put := func(agent, name, value string) error {
		return s.Do(t.Context(), http.MethodPut, "/settings?agent="+agent, map[string]any{"values": map[string]string{
			name: value}}, nil)
	}
	for _, agent := range []string{"", "main/fast"} {
		for _, c := range [][3]string{
			{"compaction.compactor", "kn", "plugin kn is no compactor here: its roles are [observer]"},
			{"compaction.observers", "[keeper]", "plugin keeper is no observer here: its roles are [compactor]"},
			{"compaction.compactor", "keeper", ""},
			{"compaction.observers", "[kn]", ""},
		} {
			err := put(agent, c[0], c[1])
			if c[2] == "" && err != nil || c[2] != "" && (err == nil || !strings.Contains(err.Error(), c[2])) {
				t.Errorf("%s=%s of agent %q: %v, want %q", c[0], c[1], agent, err, c[2])
			}
		}
	}
	wants := func(err error, says ...string) {
		t.Helper()
		for _, one := range says {
			if err == nil || !strings.Contains(err.Error()+abi.AsError(err).Hint, one) {
				t.Errorf("%v (%s), want %q", err, abi.AsError(err).Hint, one)
			}
		}
	}
	wants(put("", "compaction.upper_threshold", "0.6"),
		"agent main/reviewer has compaction.lower_threshold 0.7 of its own (kagewasm.yaml:7:31)",
		"get down to 0.7 only", "PUT /settings?agent=main/reviewer")
	if err := put("main/fast", "compaction.upper_threshold", "0.55"); err != nil {
		t.Fatal(err)
	}
	wants(put("", "compaction.lower_threshold", "0.6"),
		"agent main/fast has compaction.upper_threshold 0.55 of its own (set here)", "DELETE /settings/NAME?agent=main/fast")
	if err := put("", "compaction.lower_threshold", "0.4"); err != nil {
		t.Fatal(err)
	}
	if err := put("main/fast", "compaction.upper_threshold", "0.45"); err != nil {
		t.Fatal(err)
	}
	wants(s.Do(t.Context(), http.MethodDelete, "/settings/compaction.lower_threshold", nil, nil),
		"agent main/fast has compaction.upper_threshold 0.45 of its own (set here)")
}

// TestServeKeepsTheConfiguredContext: the context of an agent is its window also where a session or a request names a
// model, one that the catalog has or has not or an alias, and is one in strict mode; a window that the client names
// goes before.
func TestServeKeepsTheConfiguredContext(t *testing.T) {
	features.Proves(t, "A7")
	dir := t.TempDir()
	const yaml = "context: 20000\ncompaction: {strict_window: true}\nmodels: {big: {provider: openai, model: gpt-4o, " +
		"context_window: 90000}}\n"
	if err := os.WriteFile(filepath.Join(dir, "kagewasm.yaml"), []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serve(t, filepath.Join(t.TempDir(), "state"), dir, "--listen", "none", "--config", "kagewasm.yaml")
	for _, model := range []string{"", "gpt-4o", "nobody-knows", "big"} {
		for window, want := range map[int]int{0: 20000, 50000: 50000} {
			body := map[string]any{"id": fmt.Sprintf("s-%s-%d", model, window), "model": model}
			once := map[string]any{"messages": servetest.Chat(40), "model": model, "dry_run": true}
			if window > 0 {
				body["context_window"], once["context_window"] = window, window
			}
			s.do(t, "POST", "/sessions", body, nil)
			s.do(t, "POST", "/sessions/"+body["id"].(string)+"/messages", map[string]any{"messages": servetest.Chat(40)}, nil)
			var look service.Look
			s.do(t, "GET", "/sessions/"+body["id"].(string)+"/context", nil, &look)
			var made service.Made
			s.do(t, "POST", "/compact", once, &made)
			if look.Report.Window != want || made.Report.Window != want {
				t.Errorf("model %q, window %d: %d in a session, %d by itself, want %d", model, window, look.Report.Window,
					made.Report.Window, want)
			}
		}
	}
}

// TestServeWritesTheDefaultPrompt: a server that goes by a configuration writes the prompt of summaries beside it.
func TestServeWritesTheDefaultPrompt(t *testing.T) {
	features.Proves(t, "K24")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "kagewasm.yaml"), []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	serve(t, filepath.Join(t.TempDir(), "state"), dir, "--listen", "none")
	if _, err := os.Stat(filepath.Join(dir, ".kagewasm", "prompts", "compaction-summary.md")); err != nil {
		t.Error(err)
	}
}
