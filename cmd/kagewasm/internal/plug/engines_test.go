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
		rival, empty               bool
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
		{why: "line ends of Windows", agent: "hermes", file: ".hermes/config.yaml",
			was: "model: x\r\ncontext:\r\n  engine: lcm\r\n", rival: true, has: "  engine: kagewasm # kagewasm\r\n",
			added: "a: 1\r\n", left: "a: 1\r\nmodel: x\r\ncontext:\r\n  engine: lcm\r\n"},
		{why: "the engine of another key", agent: "hermes", file: ".hermes/config.yaml",
			was: "context:\n  sub:\n    engine: other\n", has: "  engine: kagewasm # kagewasm\n  sub:\n    engine: other\n",
			added: "a: 1\n", left: "a: 1\ncontext:\n  sub:\n    engine: other\n"},
		{why: "keys in quotes", agent: "hermes", file: ".hermes/config.yaml", rival: true,
			was: "\"context\":\n  \"engine\": lcm\n", has: "\"context\":\n  engine: kagewasm",
			added: "a: 1\n", left: "a: 1\n\"context\":\n  \"engine\": lcm\n"},
		{why: "an empty file", agent: "hermes", file: ".hermes/config.yaml", empty: true, has: "context: # kagewasm"},
		{why: "an empty file", agent: "codex", file: ".codex/config.toml", empty: true, has: "model_provider"},
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
		{why: "an engine in single quotes", agent: "openclaw", file: ".openclaw/openclaw.json", rival: true,
			was: "{plugins: {slots: {contextEngine: 'loss\\'less' /* x */, a: 1}}}\n", has: "contextEngine: \"kagewasm\"",
			added: "// first\n", left: "// first\n{plugins: {slots: {contextEngine: 'loss\\'less' /* x */, a: 1}}}\n"},
		{why: "an engine in single quotes, at the end", agent: "openclaw", file: ".openclaw/openclaw.json", rival: true,
			was: "{plugins: {slots: {contextEngine: 'lossless'}}}\n", has: "contextEngine: \"kagewasm\"",
			added: "// first\n", left: "// first\n{plugins: {slots: {contextEngine: 'lossless'}}}\n"},
		{why: "empty settings of the user's", agent: "openclaw", file: ".openclaw/openclaw.json",
			was: "{\n  // mine\n  plugins: {slots: {}, entries: {}},\n}\n", has: "\"contextEngine\":\"kagewasm\""},
		{why: "empty settings of the user's, who went on", agent: "openclaw", file: ".openclaw/openclaw.json",
			was: "{\n  // mine\n  plugins: {slots: {}},\n}\n", has: "\"contextEngine\":\"kagewasm\"",
			added: "// first\n", left: "// first\n{\n  // mine\n  plugins: {slots: {}},\n}\n"},
		{why: "an entry of the user's", agent: "openclaw", file: ".openclaw/openclaw.json",
			was: "{plugins: {entries: {kagewasm: {enabled: false, /* mine */ config: {a: 'x'}}, b: {}}}}\n",
			has: "\"contextEngine\":\"kagewasm\""},
		{why: "an entry of the user's, who went on", agent: "openclaw", file: ".openclaw/openclaw.json",
			was: "{plugins: {entries: {kagewasm: {enabled: false, /* mine */ config: {a: 'x'}}, b: {}}}}\n",
			has: "\"contextEngine\":\"kagewasm\"", added: "// first\n",
			left: "// first\n{plugins: {entries: {kagewasm: {enabled: false, /* mine */ config: {a: 'x'}}, b: {}}}}\n"},
		{why: "no line end", agent: "hermes", file: ".hermes/config.yaml", was: "a: 1\nmodel: x",
			has: "model: x\ncontext:"},
		{why: "JSON5 without plugins", agent: "openclaw", file: ".openclaw/openclaw.json", was: "{agents: {list: []}}\n",
			has: "{agents: {list: []}"},
		{why: "the built-in", agent: "openclaw", file: ".openclaw/openclaw.json",
			was: `{"plugins":{"slots":{"contextEngine":"legacy"}}}`,
			has: `"replaces":"legacy"`},
	} {
		t.Run(c.agent+": "+c.why, func(t *testing.T) {
			home, folder := t.TempDir(), t.TempDir()
			path := filepath.Join(home, filepath.FromSlash(c.file))
			if c.was != "" || c.empty {
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				write(t, path, c.was)
			}
			before := contents(t, home)
			p := planOf(t, c.agent, home, "")
			if (len(p.Rivals) > 0) != c.rival {
				t.Errorf("rivals %v", p.Rivals)
			}
			install(t, folder, p)
			install(t, folder, p)
			data, err := os.ReadFile(path)
			if err != nil || !strings.Contains(string(data), c.has) || strings.Count(string(data), "engine: kagewasm") > 1 {
				t.Fatalf("%s, %v", data, err)
			}
			steps, err := open(t, folder).Steps(p) // as doctor asks whether it is as it was installed
			for _, s := range steps {
				if err != nil || s.Changes() {
					t.Errorf("another installation would change %s: %v", s.Path, err)
				}
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

// TestRefusedConfigurations: a file that its agent could not read is left as it is, and where it is wrong is told. What
// only looks odd is edited.
func TestRefusedConfigurations(t *testing.T) {
	for _, c := range []struct {
		agent, version, file, was, says string // nothing is said where it is edited
	}{
		{agent: "openclaw", file: ".openclaw/openclaw.json", was: "not JSON",
			says: "it is no JSON: line 1, column 1: invalid literal: not"},
		{agent: "claude-code", version: "2.1.200", file: ".claude/settings.json", was: "{\"a\": }",
			says: "it is no JSON: line 1, column 7: "},
		{agent: "hermes", file: ".hermes/config.yaml", was: "this: [is: not yaml\n",
			says: "it is no YAML: line 2: did not find expected ',' or ']', while parsing a flow sequence that begins in"},
		{agent: "codex", file: ".codex/config.toml", was: "model = \"m\"\nmodel = \"n\"\n",
			says: "it is no TOML: line 2: Key 'model' has already been defined"},
		{agent: "codex", file: ".codex/config.toml", was: "this is: not TOML\n", says: "it is no TOML: line 1: "},
		{agent: "codex", file: ".codex/config.toml", was: "model_providers = {a = {base_url = \"x\"}}\n",
			says: "model_provider and [model_providers.NAME] have to stand on lines of their own there, none of the name " +
				"kagewasm: with ours there would be two of them"},
		{agent: "codex", file: ".codex/config.toml", was: "\"model_provider\" = \"a\"\n", says: "model_provider and "},
		{agent: "codex", file: ".codex/config.toml", was: "[model_providers.kagewasm]\nbase_url = \"x\"\n",
			says: "model_provider and "},
		{agent: "codex", file: ".codex/config.toml", was: "a = \"\"\"\n[x]\n\"\"\"\n[model_providers.a]\nb = 1\n"},
		{agent: "hermes", file: ".hermes/config.yaml", was: "a: \"open\nb: 2\n", says: "it is no YAML: "},
		{agent: "hermes", file: ".hermes/config.yaml", was: "context:\n- 1\n", says: `"context" stands on one line, or holds`},
		{agent: "hermes", file: ".hermes/config.yaml", was: "a: 1\n...\n", says: `hermes would not find our line: leave out`},
		{agent: "hermes", file: ".hermes/config.yaml", was: "context:\n  engine:\n    lcm\n", says: "hermes would not find"},
		{agent: "hermes", file: ".hermes/config.yaml", was: "a: 1\na: 2\nb: &x {c: !d e}\nf: *x\n"},
	} {
		t.Run(c.agent+" "+c.was, func(t *testing.T) {
			home := t.TempDir()
			path := filepath.Join(home, filepath.FromSlash(c.file))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			write(t, path, c.was)
			before := contents(t, home)
			_, err := open(t, t.TempDir()).Steps(planOf(t, c.agent, home, c.version))
			if (err != nil) != (c.says != "") || err != nil && !strings.Contains(err.Error(), path+": "+c.says) {
				t.Errorf("%v, want %q", err, c.says)
			}
			if now := contents(t, home); now != before {
				t.Errorf("it was\n%s\nand is\n%s", before, now)
			}
		})
	}
}

// setupOf is for an agent that has nothing but its home folder.
func setupOf(home string) plug.Setup {
	return plug.Setup{Home: home, Getenv: func(string) string { return "" }, Calls: plug.Calls{Kagewasm: "/opt/kagewasm"}}
}

// planOf is the plan of an agent that has nothing but its home folder.
func planOf(t *testing.T, agent, home, version string) plug.Plan {
	t.Helper()
	s := setupOf(home)
	s.Version = version
	return planFor(t, agent, s)
}

func planFor(t *testing.T, agent string, s plug.Setup) plug.Plan {
	t.Helper()
	for _, a := range plug.Agents() {
		if a.Name == agent {
			p, err := a.Plan(s)
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
	}
	t.Fatalf("no agent %s", agent)
	return plug.Plan{}
}
