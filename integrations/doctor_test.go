package integrations_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/agenttest"
)

// TestDoctor: doctor has the real program compact a session through its plug, leaves nothing of that behind, and says
// so where the plug does not do it.
func TestDoctor(t *testing.T) {
	const works = "it compacted a small session through kagewasm"
	healthy := func(t *testing.T, h *agenttest.Home, kagewasm, agent string) {
		t.Helper()
		before := agenttest.Tree(t, h.Dir)
		if out := h.Run(t, kagewasm, "doctor", agent); out.Err != nil || !strings.Contains(out.Stdout, works) {
			t.Errorf("%v\n%s\n%s", out.Err, out.Stdout, out.Stderr)
		}
		if changed := agenttest.Changed(before, agenttest.Tree(t, h.Dir), ".claude.json", ".cache"); len(changed) > 0 {
			t.Errorf("it left %v", changed)
		}
		if out := h.Run(t, kagewasm, "sessions", "list", "--json"); strings.Contains(out.Stdout, `"id"`) {
			t.Errorf("it left sessions: %s", out.Stdout)
		}
	}
	sick := func(t *testing.T, h *agenttest.Home, kagewasm, agent, says string) {
		t.Helper()
		if out := h.Run(t, kagewasm, "doctor", agent); out.Err == nil || strings.Contains(out.Stdout, works) ||
			!strings.Contains(out.Stdout, says) {
			t.Errorf("%v\n%s\n%s", out.Err, out.Stdout, out.Stderr)
		}
	}
	t.Run("pi", func(t *testing.T) {
		a := newPi(t)
		a.Must(t, a.kagewasm, "install", "pi")
		healthy(t, a.Home, a.kagewasm, "pi")
		settings := filepath.Join(a.State, "kagewasm", "agents", "pi.yaml")
		if err := os.WriteFile(settings, []byte("compaction: {upper_threshold: high}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		sick(t, a.Home, a.kagewasm, "pi", "upper_threshold")
	})
	t.Run("opencode", func(t *testing.T) {
		a := newOpenCode(t)
		a.Must(t, a.kagewasm, "install", "opencode")
		healthy(t, a.Home, a.kagewasm, "opencode")
		if n := len(a.model.Requests()); n != 0 {
			t.Errorf("the provider was asked %d times", n)
		}
		settings := filepath.Join(a.State, "kagewasm", "agents", "opencode.yaml")
		if err := os.WriteFile(settings, []byte("compaction: {upper_threshold: high}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		sick(t, a.Home, a.kagewasm, "opencode", "upper_threshold")
	})
	t.Run("codex", func(t *testing.T) {
		c := newCodex(t)
		c.install(t)
		healthy(t, c.Home, c.kagewasm, "codex")
		if n := len(c.model.Requests()); n != 0 {
			t.Errorf("the provider was asked %d times", n)
		}
		config := c.path("config.toml")
		settings, err := os.ReadFile(config)
		if err != nil {
			t.Fatal(err)
		}
		stricter := "zz = {}\n" + string(settings) + "[[zz.x]]\na = 1\n"
		if err := os.WriteFile(config, []byte(stricter), 0o600); err != nil {
			t.Fatal(err)
		}
		sick(t, c.Home, c.kagewasm, "codex", "Codex cannot read "+config+": line ")
		if err := os.WriteFile(config, settings, 0o600); err != nil {
			t.Fatal(err)
		}
		c.kill()
		sick(t, c.Home, c.kagewasm, "codex", "Codex has no provider")
	})
	t.Run("claude-code", func(t *testing.T) {
		c := newClaude(t)
		c.install(t)
		healthy(t, c.Home, c.kagewasm, "claude-code")
	})
}
