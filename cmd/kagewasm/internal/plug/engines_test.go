package plug_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/plug"
)

// TestEnginesInConfigurations: the engine is named in the agent's configuration, beside all that stands there, and what
// it replaced is back when it goes, also where the user went on in the file.
func TestEnginesInConfigurations(t *testing.T) {
	for _, c := range []struct {
		why, agent, file, was, has string
		rival                      bool
		added, left                string // what the user puts in front, and what is left then
	}{
		{why: "no configuration", agent: "hermes", file: ".hermes/config.yaml",
			has: "context: # kagewasm\n  engine: kagewasm"},
		{why: "a configuration without the key", agent: "hermes", file: ".hermes/config.yaml", was: "model: x",
			has: "model: x\ncontext:", added: "a: 1\n", left: "a: 1\nmodel: x\n"},
		{why: "another engine", agent: "hermes", file: ".hermes/config.yaml",
			was: "context:\n    engine: lcm # mine\n    other: 1\nmodel: x\n", rival: true,
			has:   "context:\n    engine: kagewasm # kagewasm\n# kagewasm replaced:     engine: lcm # mine\n    other: 1\n",
			added: "a: 1\n", left: "a: 1\ncontext:\n    engine: lcm # mine\n    other: 1\nmodel: x\n"},
		{why: "the built-in", agent: "hermes", file: ".hermes/config.yaml", was: "context:\n  engine: compressor\n",
			has: "  engine: kagewasm"},
		{why: "no configuration", agent: "openclaw", file: ".openclaw/openclaw.json", has: `"contextEngine":"kagewasm"`},
		{why: "comments and another engine", agent: "openclaw", file: ".openclaw/openclaw.json", rival: true,
			was:   "{\n  // mine\n  \"plugins\": {\"slots\": {\"contextEngine\": \"lossless\"}, \"allow\": [\"x\"]},\n}\n",
			has:   "// mine",
			added: "// first\n",
			left: "// first\n{\n  // mine\n" +
				"  \"plugins\": {\"slots\": {\"contextEngine\": \"lossless\"}, \"allow\": [\"x\"]},\n}\n"},
		{why: "JSON5", agent: "openclaw", file: ".openclaw/openclaw.json", rival: true,
			was: "{\n  // plugins: mine\n  gateway: {port: 1, 'bind': 'it\\'s \"loop\"', url: \"http://x/y:z\",},\n" +
				"  plugins /* a */ : {slots: {contextEngine: \"lossless\"}, allow: ['x']},\n}\n",
			has: "gateway: {port: 1, 'bind': 'it\\'s \"loop\"', url: \"http://x/y:z\",},\n" +
				"  plugins /* a */ : {slots: {contextEngine",
			added: "// first\n",
			left: "// first\n{\n  // plugins: mine\n  gateway: {port: 1, 'bind': 'it\\'s \"loop\"', url: \"http://x/y:z\",},\n" +
				"  plugins /* a */ : {slots: {contextEngine: \"lossless\"}, allow: ['x']},\n}\n"},
		{why: "JSON5 without plugins", agent: "openclaw", file: ".openclaw/openclaw.json", was: "{agents: {list: []}}\n",
			has: "{agents: {list: []}"},
		{why: "the built-in", agent: "openclaw", file: ".openclaw/openclaw.json",
			was: `{"plugins":{"slots":{"contextEngine":"legacy"}}}`,
			has: `"replaces":"legacy"`},
	} {
		t.Run(c.agent+": "+c.why, func(t *testing.T) {
			home, folder := t.TempDir(), t.TempDir()
			path := filepath.Join(home, filepath.FromSlash(c.file))
			if c.was != "" {
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				write(t, path, c.was)
			}
			before := contents(t, home)
			var p plug.Plan
			for _, a := range plug.Agents() {
				if a.Name == c.agent {
					var err error
					if p, err = a.Plan(plug.Setup{Home: home, Getenv: func(string) string { return "" }}); err != nil {
						t.Fatal(err)
					}
				}
			}
			if (len(p.Rivals) > 0) != c.rival {
				t.Errorf("rivals %v", p.Rivals)
			}
			install(t, folder, p)
			install(t, folder, p)
			data, err := os.ReadFile(path)
			if err != nil || !strings.Contains(string(data), c.has) || strings.Count(string(data), "engine: kagewasm") > 1 {
				t.Fatalf("%s, %v", data, err)
			}
			if c.added == "" {
				if uninstall(t, folder, p); contents(t, home) != before {
					t.Errorf("it was\n%s\nand is\n%s", before, contents(t, home))
				}
				return
			}
			write(t, path, c.added+string(data))
			uninstall(t, folder, p)
			if data, err = os.ReadFile(path); err != nil || string(data) != c.left {
				t.Errorf("left is %q, %v, want %q", data, err, c.left)
			}
		})
	}
}
