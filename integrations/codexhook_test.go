package integrations_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/agenttest"
)

// trust lets Codex run all hooks of the settings, as its screen does where a person chooses that, and returns how many
// they are.
func (c *codex) trust(t *testing.T) int {
	t.Helper()
	app := c.app(t)
	defer app.close()
	var list struct {
		Data []struct {
			Hooks []struct{ Key, CurrentHash, TrustStatus string }
		}
	}
	answer := app.call("hooks/list", map[string]any{"cwds": []string{c.Project}})
	if err := json.Unmarshal(answer, &list); err != nil {
		t.Fatal(err)
	}
	state := make(map[string]any)
	for _, d := range list.Data {
		for _, h := range d.Hooks {
			if h.TrustStatus != "untrusted" {
				t.Errorf("%s is %s", h.Key, h.TrustStatus)
			}
			state[h.Key] = map[string]string{"trusted_hash": h.CurrentHash}
		}
	}
	edit := map[string]any{"keyPath": "hooks.state", "value": state, "mergeStrategy": "upsert"}
	app.call("config/batchWrite", map[string]any{"edits": []any{edit}})
	return len(state)
}

// handedBack is what the hook begins with.
const handedBack = "What the summary may have left out, exactly as it was:"

// TestCodexHook: behind a compaction that Codex makes without us, and behind no other, a hook that the person trusts
// hands the conversation what it was about, with the next request and once. doctor tells whether it is trusted, and
// uninstall takes it out, and the trust.
func TestCodexHook(t *testing.T) {
	const other = "\n[model_providers.other]\nname = \"Other\"\nbase_url = \"UPSTREAM\"\nwire_api = \"responses\"\n" +
		"requires_openai_auth = true\nsupports_websockets = false\n"
	for _, c := range []struct {
		why       string
		untrusted bool
		passing   bool     // the proxy compacts nothing
		flags     []string // of Codex
		told      bool
	}{
		{why: "the proxy compacts"},
		{why: "the proxy passes requests on", passing: true, told: true},
		{why: "nobody trusts the hook", passing: true, untrusted: true},
		{why: "another provider is chosen, whose model summarizes", flags: []string{"-c", `model_provider="other"`}, told: true},
	} {
		t.Run(c.why, func(t *testing.T) {
			x := newCodex(t)
			x.write(t, "config.toml", codexSettings+strings.ReplaceAll(other, "UPSTREAM", x.upstream))
			if c.passing {
				bad := filepath.Join(x.Project, "bad.yaml")
				if err := os.WriteFile(bad, []byte("compaction: {upper_threshold: high}\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				x.settings = []string{"--keep-answering", "--config", bad}
			}
			x.model.Compacts = c.passing
			x.model.By = func(r agenttest.Request, _ int) (agenttest.Answer, bool) {
				return agenttest.Answer{Text: "They ran tests."}, r.Says("CONTEXT CHECKPOINT COMPACTION")
			}
			before := agenttest.Tree(t, x.Dir)
			x.start(t)
			said := x.Must(t, x.kagewasm, "install", "codex", "--listen", x.address)
			if !strings.Contains(said, "Trust all and continue") {
				t.Errorf("install does not say how the hook is trusted: %s", said)
			}
			word := "Codex does not run it before you trust it"
			if !c.untrusted {
				if n := x.trust(t); n != 1 {
					t.Fatalf("%d hooks", n)
				}
				word = "trusted: it adds exact names"
			}
			if out := x.Run(t, x.kagewasm, "doctor", "codex"); !strings.Contains(out.Stdout, word) ||
				strings.Contains(out.Stdout, "not what version") {
				t.Errorf("doctor: %s %s", out.Stdout, out.Stderr)
			}
			x.work(4)
			x.exec(t, false, "Run the tests. Never touch the folder vendor/.", c.flags...)
			x.work(4)
			x.exec(t, true, "Run them once more.", c.flags...)
			told := 0
			for i, r := range x.model.Requests() {
				whole(t, i, r)
				told = max(told, strings.Count(string(r.Body), handedBack))
			}
			if want := map[bool]int{true: 1}[c.told]; told != want || c.told && !x.model.Last(t).Says(handedBack) {
				t.Errorf("it is told %d times in a request, want %d; in the last: %v", told, want, x.model.Last(t).Says(handedBack))
			}
			x.Must(t, x.kagewasm, "uninstall", "codex")
			after := agenttest.Tree(t, x.Dir)
			if is := after[".codex/config.toml"]; is != before[".codex/config.toml"] || after[".codex/hooks.json"] != "" {
				t.Errorf("uninstall left %s", is)
			}
		})
	}
}
