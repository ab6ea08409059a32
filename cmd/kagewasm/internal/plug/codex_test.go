package plug_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/plug"
)

// TestCodexSettings: our provider comes into the settings whatever is there, is the one that holds, and goes again
// without a trace, also after the user changed other parts.
func TestCodexSettings(t *testing.T) {
	for name, c := range map[string]struct{ was, upstream, rival string }{
		"none":     {"", "codex", ""},
		"no table": {"model = \"m\"\n", "codex", ""},
		"another provider": {"model_provider = \"azure\" # ours\nmodel = \"m\"\n[model_providers.azure]\nname = \"a\"\n",
			"codex", "azure"},
		"a profile's provider": {"[profiles.x]\nmodel_provider = \"azure\"\n", "codex", ""},
		"another base URL":     {"openai_base_url = \"https://gateway.example/v1\"\n", "https://gateway.example/v1", ""},
		"line ends of Windows": {"model = \"m\"\r\n[tui]\r\nx = 1\r\n", "codex", ""},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			var agent plug.Agent
			for _, a := range plug.Agents() {
				if a.Name == "codex" {
					agent = a
				}
			}
			if err := os.MkdirAll(filepath.Join(home, ".codex"), 0o755); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(home, ".codex", "config.toml"), c.was)
			p, err := agent.Plan(plug.Setup{Home: home, Getenv: func(string) string { return "" },
				Calls: plug.Calls{Kagewasm: "/opt/kage wasm"}})
			if err != nil || len(p.Edits) != 1 {
				t.Fatalf("%+v, %v", p, err)
			}
			if !strings.Contains(p.Next, "--upstream "+c.upstream+" --listen "+plug.CodexAddress) {
				t.Errorf("%s", p.Next)
			}
			if rivals := strings.Join(p.Rivals, ""); (rivals == "") != (c.rival == "") || !strings.Contains(rivals, c.rival) {
				t.Errorf("rivals %v", p.Rivals)
			}
			before := []byte(c.was)
			is, err := p.Edits[0].Put(before)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(string(is), "model_provider = \"kagewasm\"") {
				t.Errorf("%s", is)
			}
			if back, err := p.Edits[0].Take(is, before); err != nil || string(back) != c.was {
				t.Errorf("%q, %v", back, err)
			}
			changed := strings.Replace(string(is), "[model_providers.kagewasm]", "[added]\ny = 2\n[model_providers.kagewasm]", 1)
			if back, err := p.Edits[0].Take([]byte(changed), before); err != nil || string(back) != c.was+"[added]\ny = 2\n" {
				t.Errorf("%q, %v", back, err)
			}
			cut := strings.TrimRight(c.was, "\r\n")
			if is, err = p.Edits[0].Put([]byte(cut)); err != nil {
				t.Fatal(err)
			}
			moved := strings.Replace(string(is), plug.CodexAddress, "127.0.0.1:1", 1)
			if back, err := p.Edits[0].Take([]byte(moved), []byte(cut)); err != nil || string(back) != cut {
				t.Errorf("without a line end: %q, %v", back, err)
			}
			for _, f := range p.Files {
				if strings.HasSuffix(f.Path, ".service") && !strings.Contains(string(f.Data),
					`ExecStart="/opt/kage wasm" "proxy"`) {
					t.Errorf("%s", f.Data)
				}
			}
		})
	}
}

// trustIn is what Codex writes where a person trusts a hook.
func trustIn(path string, place int) string {
	key := fmt.Sprintf("%s:session_start:%d:0", path, place)
	return fmt.Sprintf("\n[hooks.state.%q]\ntrusted_hash = \"sha256:00\"\n", key)
}

// TestCodexHook: our hook comes into the file that has the user's, and goes from it again without a trace, also from
// between those that came behind it, and with the trust that Codex keeps beside it. While it is there nothing of that
// is to be installed again, and another installation keeps it, unless the hook's place among the others changes, which
// Codex goes by.
func TestCodexHook(t *testing.T) {
	const mine = `{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"borg hook codex"}]}]}}`
	const group = "\n[[hooks.SessionStart]]\n[[hooks.SessionStart.hooks]]\ntype = \"command\"\n" +
		"command = \"borg hook codex\"\n"
	for _, c := range []struct {
		why, config, json string // as they are before; empty for none
		file              string // has the hook then
		place             int    // of it
		behind, left      string // what comes behind it in config.toml, and what of that stays
	}{
		{why: "no settings", file: "config.toml"},
		{why: "settings without an end of line", config: "model = \"m\"", file: "config.toml"},
		{why: "somebody else's hook in config.toml", config: "model = \"m\"\n" + group, file: "config.toml", place: 1},
		{why: "somebody else's hook in hooks.json", config: "model = \"m\"\n", json: mine, file: "hooks.json", place: 1},
		{why: "hooks in one value", config: "[hooks]\nSessionStart = []\n", file: "hooks.json"},
		{why: "no hooks in one value", config: "hooks = {}\n", file: "hooks.json"},
		{why: "hooks of an event in one value", config: "hooks.SessionStart = []\n", file: "hooks.json"},
		{why: "somebody else's hook that came later", config: "model = \"m\"\n", file: "config.toml", behind: group,
			left: group},
		{why: "the trust of somebody else's hook", config: "model = \"m\"\n", file: "config.toml",
			behind: "\n[hooks.state]\n" + trustIn("/x/hooks.json", 0),
			left:   "\n[hooks.state]\n" + trustIn("/x/hooks.json", 0)},
		{why: "settings behind a comment", config: "model = \"m\"\n", file: "config.toml",
			behind: "\n# seldom used\n[projects.x]\ntrust_level = \"trusted\"\n",
			left:   "\n# seldom used\n[projects.x]\ntrust_level = \"trusted\"\n"},
	} {
		for _, header := range []string{"", "\n[hooks.state]\n"} {
			t.Run(c.why+header, func(t *testing.T) {
				home, folder := t.TempDir(), t.TempDir()
				config, file := filepath.Join(home, ".codex", "config.toml"), filepath.Join(home, ".codex", c.file)
				if err := os.MkdirAll(filepath.Dir(config), 0o755); err != nil {
					t.Fatal(err)
				}
				for name, text := range map[string]string{"config.toml": c.config, "hooks.json": c.json} {
					if text != "" {
						write(t, filepath.Join(home, ".codex", name), text)
					}
				}
				before := contents(t, home)
				install(t, folder, planOf(t, "codex", home, ""))
				if n := strings.Count(string(readAll(t, file)), "kagewasm hook codex"); n != 1 {
					t.Fatalf("%d hooks of ours in %s: %s", n, c.file, contents(t, home))
				}
				if p := planOf(t, "codex", home, ""); !strings.Contains(p.Trust, "Trust all and continue") {
					t.Errorf("nobody is asked to trust it: %q", p.Trust)
				}
				added := header + trustIn(file, c.place) + c.behind
				if strings.Contains(c.behind, "[hooks.state]") {
					added = c.behind + trustIn(file, c.place)
				}
				write(t, config, string(readAll(t, config))+added)
				p := planOf(t, "codex", home, "")
				if p.Trust != "" {
					t.Errorf("it is trusted, and: %s", p.Trust)
				}
				steps, err := open(t, folder).Steps(p)
				if err != nil {
					t.Fatal(err)
				}
				for _, s := range steps {
					if s.Changes() {
						t.Errorf("to be installed again: %s", s.Diff())
					}
				}
				elsewhere := setupOf(home)
				elsewhere.Listen = "127.0.0.1:9"
				again := planFor(t, "codex", elsewhere)
				install(t, folder, again)
				is := string(readAll(t, config))
				kept := strings.Contains(is, "sha256:00")
				if kept != (c.behind != group) || !strings.Contains(is, "127.0.0.1:9") {
					t.Errorf("elsewhere: %s", is)
				}
				uninstall(t, folder, planOf(t, "codex", home, ""))
				if c.left != "" {
					if is = string(readAll(t, config)); is != c.config+c.left {
						t.Errorf("left is %q, want %q", is, c.config+c.left)
					}
					write(t, config, c.config)
				}
				if after := contents(t, home); after != before {
					t.Errorf("it was\n%s\nand is\n%s", before, after)
				}
			})
		}
	}
}
