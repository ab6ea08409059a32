package plug_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/plug"
)

// settled are agents with settings of a user's in which something of ours comes; file is empty where none does.
var settled = []struct{ agent, version, file, was string }{
	{agent: "claude-code"},
	{agent: "claude-code", version: "2.1.200", file: ".claude/settings.json", was: "{\n  \"model\": \"opus\"\n}\n"},
	{agent: "claude-code", version: "2.1.200"},
	{agent: "codex", file: ".codex/config.toml", was: "model = \"m\"\n[tui]\nx = 1\n"},
	{agent: "codex"},
	{agent: "codex", file: ".codex/hooks.json",
		was: `{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"borg hook codex"}]}]}}`},
	{agent: "opencode", file: ".config/opencode/opencode.json", was: "{}\n"},
	{agent: "pi"},
	{agent: "openclaw", file: ".openclaw/openclaw.json", was: "{\n  // mine\n  \"a\": 1\n}\n"},
	{agent: "openclaw"},
	{agent: "hermes", file: ".hermes/config.yaml", was: "model: x\ncontext:\n  other: 1\n"},
	{agent: "hermes"},
}

// homeWith is a home folder with one file; none where it has no name.
func homeWith(t *testing.T, file, text string) (home, path string) {
	t.Helper()
	home = t.TempDir()
	path = filepath.Join(home, filepath.FromSlash(file))
	if file != "" {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, path, text)
	}
	return home, path
}

// filesOf are the files below a folder, without folders.
func filesOf(t *testing.T, home string) (files string) {
	t.Helper()
	err := filepath.WalkDir(home, func(path string, d os.DirEntry, err error) error {
		switch {
		case err == nil && d.IsDir() && d.Name() == "kagewasm":
			files += path + "/\n"
		case err == nil && !d.IsDir():
			files += path + ": " + string(readAll(t, path)) + "\n"
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestLostRecord: without a record of the installation everything of ours is found by what it says, and goes. Another
// installation takes none of it for the user's.
func TestLostRecord(t *testing.T) {
	for _, c := range settled {
		t.Run(c.agent+" "+c.version+" "+c.file, func(t *testing.T) {
			home, _ := homeWith(t, c.file, c.was)
			before := filesOf(t, home)
			p := planOf(t, c.agent, home, c.version)
			install(t, t.TempDir(), p)
			installed := filesOf(t, home)
			again, folder := planOf(t, c.agent, home, c.version), t.TempDir()
			for _, s := range install(t, folder, again) {
				if s.Changes() {
					t.Errorf("installed once more it changes: %s", s.Diff())
				}
			}
			if uninstall(t, folder, again); filesOf(t, home) != before {
				t.Errorf("installed once more and uninstalled:\n%s\nit was:\n%s", filesOf(t, home), before)
			}
			if install(t, t.TempDir(), p); filesOf(t, home) != installed {
				t.Errorf("another installation differs:\n%s", filesOf(t, home))
			}
			r := open(t, t.TempDir())
			steps, err := r.Removal(planOf(t, c.agent, home, c.version))
			if err != nil || !r.Found(p, steps) {
				t.Fatalf("found nothing: %v", err)
			}
			if err := r.Uninstall(steps); err != nil || filesOf(t, home) != before {
				t.Errorf("%v:\n%s\nit was:\n%s", err, filesOf(t, home), before)
			}
			steps, err = r.Removal(planOf(t, c.agent, home, c.version))
			if err != nil || len(steps) > 0 {
				t.Errorf("and more is found: %v, %v", steps, err)
			}
		})
	}
}

// TestFilesNameUs: each file of ours has our name in it, by which it is known where no record tells of it.
func TestFilesNameUs(t *testing.T) {
	for _, a := range plug.Agents() {
		p := planOf(t, a.Name, t.TempDir(), "")
		for _, f := range p.Files {
			if !strings.Contains(string(f.Data), "kagewasm") {
				t.Errorf("%s: %s does not", a.Name, f.Path)
			}
		}
	}
}

// TestOldVersionIsKept: a file of ours of another version goes too where no record tells of it, and is kept aside, as
// it may be somebody's.
func TestOldVersionIsKept(t *testing.T) {
	home, folder := t.TempDir(), t.TempDir()
	p := planOf(t, "pi", home, "")
	install(t, t.TempDir(), p)
	path := filepath.Join(home, ".pi", "agent", "extensions", "kagewasm", "index.ts")
	write(t, path, "// of another kagewasm\n")
	install(t, folder, p)
	aside := filepath.Join(folder, "changed", "index.ts")
	if got := string(readAll(t, aside)); got != "// of another kagewasm\n" {
		t.Errorf("kept is %q", got)
	}
	mine := filepath.Join(filepath.Dir(path), "mine.ts")
	write(t, mine, "")
	r := open(t, folder)
	steps, err := r.Removal(p)
	if err == nil {
		err = r.Uninstall(steps)
	}
	if left := plug.Left(steps); err != nil || len(left) != 1 || left[0] != mine {
		t.Errorf("left is %v, %v", left, err)
	}
}

// TestRewrittenSettings: our part is found by what it says where a program has written the settings anew, without our
// comments and in its own order. It is as installed then, and goes, and what it took the place of is back.
func TestRewrittenSettings(t *testing.T) {
	uncommented := func(text string) string {
		var b strings.Builder
		for line := range strings.Lines(strings.ReplaceAll(text, " # kagewasm\n", "\n")) {
			if !strings.HasPrefix(line, "# kagewasm replaced: ") {
				b.WriteString(line)
			}
		}
		return b.String()
	}
	inOrder := func(text string) string {
		var all any
		if err := json.Unmarshal([]byte(text), &all); err != nil {
			return text
		}
		sorted, _ := json.MarshalIndent(all, "", "    ")
		return string(sorted) + "\n"
	}
	for _, c := range []struct {
		why, agent, version, file, was string
		rewrite                        func(string) string
		left                           string // empty where it is as it was
	}{
		{why: "comments", agent: "codex", file: ".codex/config.toml", was: "model = \"m\"\n[tui]\nx = 1\n",
			rewrite: uncommented},
		{why: "comments, and another provider", agent: "codex", file: ".codex/config.toml",
			was: "model_provider = \"azure\"\nmodel = \"m\"\n[model_providers.azure]\nname = \"a\"\n", rewrite: uncommented},
		{why: "quotes and a key more", agent: "codex", file: ".codex/config.toml", was: "model = \"m\"\n",
			rewrite: func(text string) string {
				return strings.NewReplacer(`"kagewasm"`, "'kagewasm'", "[model_providers.kagewasm]",
					"[ model_providers . \"kagewasm\" ]\nrequest_max_retries = 2").Replace(uncommented(text))
			}},
		{why: "a provider that a person chose", agent: "codex", file: ".codex/config.toml",
			was: "model_provider = \"azure\"\nmodel = \"m\"\n",
			rewrite: func(text string) string {
				return strings.Replace(text, `model_provider = "kagewasm" # kagewasm`, `model_provider = "x"`, 1)
			}, left: "model_provider = \"x\"\nmodel = \"m\"\n"},
		{why: "a line of the user's with our comment", agent: "codex", file: ".codex/config.toml", was: "model = \"m\"\n",
			rewrite: func(text string) string { return text + "[profiles.kw] # kagewasm\nmodel = \"y\"\n" },
			left:    "model = \"m\"\n[profiles.kw] # kagewasm\nmodel = \"y\"\n"},
		{why: "comments", agent: "hermes", file: ".hermes/config.yaml",
			was: "context:\n  engine: lcm\n  other: 1\nmodel: x\n", rewrite: uncommented},
		{why: "comments, the engine alone", agent: "hermes", file: ".hermes/config.yaml", was: "context:\n  engine: lcm\n",
			rewrite: uncommented},
		{why: "comments, no context", agent: "hermes", file: ".hermes/config.yaml", was: "model: x\n", rewrite: uncommented},
		{why: "an engine that a person chose", agent: "hermes", file: ".hermes/config.yaml",
			was: "context:\n  engine: lcm\n",
			rewrite: func(text string) string {
				return strings.Replace(text, "engine: kagewasm # kagewasm", "engine: other", 1)
			}, left: "context:\n  engine: other\n"},
		{why: "order", agent: "openclaw", file: ".openclaw/openclaw.json",
			was: inOrder(`{"plugins":{"allow":["x"],"slots":{"contextEngine":"lossless"}},"z":1}`), rewrite: inOrder},
		{why: "order", agent: "claude-code", version: "2.1.200", file: ".claude/settings.json", was: inOrder(`{"z":1,"a":2}`),
			rewrite: inOrder},
	} {
		t.Run(c.agent+": "+c.why, func(t *testing.T) {
			home, path := homeWith(t, c.file, c.was)
			folder, before := t.TempDir(), filesOf(t, home)
			install(t, folder, planOf(t, c.agent, home, c.version))
			write(t, path, c.rewrite(string(readAll(t, path))))
			p := planOf(t, c.agent, home, c.version)
			steps, err := open(t, folder).Steps(p)
			for _, s := range steps {
				if (err != nil || s.Changes()) && !strings.Contains(c.why, "that a person chose") {
					t.Errorf("it is not as it was installed: %v %s", err, s.Diff())
				}
			}
			uninstall(t, folder, p)
			if c.left != "" {
				if is := string(readAll(t, path)); is != c.left {
					t.Errorf("left is\n%s\nwant\n%s", is, c.left)
				}
			} else if now := filesOf(t, home); now != before {
				t.Errorf("left is\n%s\nwant\n%s", now, before)
			}
		})
	}
}

// TestLeftIsTold: what of ours cannot be taken out is told, and nothing is called as it was.
func TestLeftIsTold(t *testing.T) {
	for _, c := range []struct{ agent, file, was, says string }{
		{"hermes", ".hermes/config.yaml", "context: {engine: kagewasm, a: 1}\n", "taken out by hand"},
		{"codex", ".codex/config.toml", "model_provider = \"kagewasm\"\nmodel_providers = {kagewasm = {name = \"OpenAI\", " +
			"base_url = \"http://127.0.0.1:4182\"}}\n", "taken out by hand"},
		{"codex", ".codex/config.toml", "model_provider = \"kagewasm\"\nx = [\n", "it is no TOML"},
		{"openclaw", ".openclaw/openclaw.json", `{"plugins":{"slots":{"contextEngine":"kagewasm"}}`, "it is no JSON"},
	} {
		t.Run(c.agent+" "+c.was, func(t *testing.T) {
			home, _ := homeWith(t, c.file, c.was)
			_, err := open(t, t.TempDir()).Removal(planOf(t, c.agent, home, ""))
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %q", err, c.says)
			}
		})
	}
}

// TestOtherVersionOfAgent: an agent that is another version now, with another way of plugging in, has ours once.
func TestOtherVersionOfAgent(t *testing.T) {
	for _, versions := range [][2]string{{"2.1.200", "2.1.330"}, {"2.1.330", "2.1.200"}} {
		for _, lost := range []bool{false, true} {
			home, path := homeWith(t, ".claude/settings.json", "{\"model\":\"opus\"}\n")
			folder := t.TempDir()
			install(t, folder, planOf(t, "claude-code", home, versions[0]))
			write(t, path, strings.Replace(string(readAll(t, path)), "opus", "sonnet", 1))
			if lost {
				folder = t.TempDir()
			}
			p := planOf(t, "claude-code", home, versions[1])
			install(t, folder, p)
			mod := filepath.Join(home, ".claude", "skills", "kagewasm", "hooks", "register.js")
			_, err := os.Stat(mod)
			hooks := strings.Count(string(readAll(t, path)), "hook claude-code")
			if want := versions[1] == "2.1.330"; (err == nil) != want || (hooks == 0) != want {
				t.Errorf("%v, lost %v: mod %v, %d hooks", versions, lost, err, hooks)
			}
			uninstall(t, folder, p)
			if now := filesOf(t, home); strings.Contains(now, "hook claude-code") || strings.Contains(now, "register") ||
				!strings.Contains(now, "sonnet") {
				t.Errorf("%v, lost %v: left is %s", versions, lost, now)
			}
		}
	}
}
