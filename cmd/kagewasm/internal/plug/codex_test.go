package plug_test

import (
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
