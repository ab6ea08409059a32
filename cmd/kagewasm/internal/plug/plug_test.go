package plug_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/plug"
	"github.com/kagewasm/kagewasm/internal/features"
)

// ours is the line of kagewasm in a file of the user's.
const ours = "use kagewasm\n"

// agentAt is a plan of two files of ours, one of settings, and a line in a file of the user's.
func agentAt(home string) plug.Plan {
	return plug.Plan{
		Files: []plug.File{
			{Path: filepath.Join(home, "plugs", "kagewasm", "plug.js"), Data: []byte("plug 1\n")},
			{Path: filepath.Join(home, "policy.yaml"), Data: []byte("policy\n"), Settings: true},
		},
		Edits: []plug.Edit{{
			Path: filepath.Join(home, "settings.conf"),
			Put:  func(was []byte) ([]byte, error) { return append(bytes.Clone(was), ours...), nil },
			Take: func(now, _ []byte) ([]byte, error) {
				left, found := strings.CutSuffix(string(now), ours)
				if !found {
					left = strings.Replace(string(now), ours, "", 1)
				}
				return []byte(left), nil
			},
			Has: func(now []byte) bool { return strings.Contains(string(now), ours) },
		}},
	}
}

func open(t *testing.T, folder string) *plug.Record {
	t.Helper()
	r, err := plug.Open(folder, "agent")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func install(t *testing.T, folder string, p plug.Plan) []plug.Step {
	t.Helper()
	r := open(t, folder)
	steps, err := r.Steps(p)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Install(p, steps, "v1", plug.Setup{Version: "1.0.0"}); err != nil {
		t.Fatal(err)
	}
	return steps
}

func uninstall(t *testing.T, folder string, p plug.Plan) {
	t.Helper()
	r := open(t, folder)
	steps, err := r.Removal(p)
	if err == nil {
		err = r.Uninstall(steps)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
}

func readAll(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// contents are the files below a folder, and the folders.
func contents(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		name, _ := filepath.Rel(dir, path)
		if b.WriteString(name); err == nil && !d.IsDir() {
			var data []byte
			data, err = os.ReadFile(path)
			info, _ := d.Info()
			b.WriteString(" " + info.Mode().String() + " " + string(data))
		}
		b.WriteString("\n")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestUninstallGivesBack(t *testing.T) {
	features.Proves(t, "N11")
	for _, c := range []struct {
		why           string
		before        string             // of the user's file; empty for none
		between       func(home string)  // what happens while it is installed
		same          bool               // all is as it was before
		wantSettings  string             // else: the user's file
		wantElsewhere map[string]string  // and other files
		again         func(p *plug.Plan) // what the plan is then
		times         int                // that it is installed
	}{
		{why: "nothing was there", same: true},
		{why: "a file of the user's, without an end of line", before: "a = 1", same: true},
		{why: "to install again changes nothing", before: "a = 1\n", times: 3, same: true},
		{why: "the user went on in the file: only our part goes", before: "a = 1\n",
			between:      func(home string) { write(t, filepath.Join(home, "settings.conf"), "a = 1\n"+ours+"b = 2\n") },
			wantSettings: "a = 1\nb = 2\n"},
		{why: "and so it is after another installation", before: "a = 1\n", times: 2,
			between:      func(home string) { write(t, filepath.Join(home, "settings.conf"), "a = 1\n"+ours+"b = 2\n") },
			wantSettings: "a = 1\nb = 2\n"},
		{why: "the user removed the file", before: "a = 1\n",
			between: func(home string) { os.Remove(filepath.Join(home, "settings.conf")) }, wantSettings: ""},
		{why: "the user set their own policy", before: "a = 1\n",
			between:       func(home string) { write(t, filepath.Join(home, "policy.yaml"), "mine\n") },
			wantSettings:  "a = 1\n",
			wantElsewhere: map[string]string{"policy.yaml": "mine\n"}},
		{why: "a later version has no such plug any more", before: "a = 1\n", times: 2, same: true,
			again: func(p *plug.Plan) { p.Files[0].Path = strings.ReplaceAll(p.Files[0].Path, "plug.js", "other.js") }},
	} {
		t.Run(c.why, func(t *testing.T) {
			home, folder := t.TempDir(), t.TempDir()
			settings := filepath.Join(home, "settings.conf")
			if c.before != "" {
				write(t, settings, c.before)
			}
			before := contents(t, home)
			p := agentAt(home)
			install(t, folder, p)
			if now := contents(t, home); !strings.Contains(now, ours) || !strings.Contains(now, "plug 1") {
				t.Fatalf("installed: %s", now)
			}
			if c.between != nil {
				c.between(home)
			}
			for n := 1; n < c.times; n++ {
				if c.again != nil {
					c.again(&p)
				}
				install(t, folder, p)
			}
			uninstall(t, folder, p)
			if c.same {
				if now := contents(t, home); now != before {
					t.Errorf("it was\n%s\nand is\n%s", before, now)
				}
				return
			}
			data, err := os.ReadFile(settings)
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
			if string(data) != c.wantSettings {
				t.Errorf("the user's file is %q, want %q", data, c.wantSettings)
			}
			for name, want := range c.wantElsewhere {
				if data, _ := os.ReadFile(filepath.Join(home, name)); string(data) != want {
					t.Errorf("%s is %q, want %q", name, data, want)
				}
			}
			if open(t, folder).Installed() {
				t.Error("it is still installed")
			}
		})
	}
}

// TestChangedPlugIsKept: a file of ours that the user changed goes, and is kept aside.
func TestChangedPlugIsKept(t *testing.T) {
	home, folder := t.TempDir(), t.TempDir()
	before := contents(t, home)
	p := agentAt(home)
	install(t, folder, p)
	write(t, p.Files[0].Path, "plug, changed\n")
	uninstall(t, folder, p)
	if now := contents(t, home); now != before {
		t.Errorf("it was\n%s\nand is\n%s", before, now)
	}
	if data, err := os.ReadFile(filepath.Join(folder, "changed", "plug.js")); err != nil ||
		string(data) != "plug, changed\n" {
		t.Errorf("kept is %q, %v", data, err)
	}
}

// TestStoppedInstallation: what an installation that stopped on the way has done can be taken out.
func TestStoppedInstallation(t *testing.T) {
	home, folder := t.TempDir(), t.TempDir()
	write(t, filepath.Join(home, "settings.conf"), "a = 1\n")
	notReached := filepath.Join(home, "mine.js")
	write(t, notReached, "mine\n")
	before := contents(t, home)
	p := agentAt(home)
	p.Files[1].Path = filepath.Join(home, "settings.conf", "policy.yaml") // below a file
	p.Files = append(p.Files, plug.File{Path: notReached, Data: []byte("plug 2\n")})
	r := open(t, folder)
	steps, err := r.Steps(p)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Install(p, steps, "v1", plug.Setup{}); err == nil || contents(t, home) == before {
		t.Fatalf("it did not stop half way: %v", err)
	}
	uninstall(t, folder, p)
	if now := contents(t, home); now != before {
		t.Errorf("it was\n%s\nand is\n%s", before, now)
	}
	if _, err := os.Stat(filepath.Join(folder, "changed")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that was not reached was put aside as a changed one: %v", err)
	}
}

// TestPlansOfAgents: no agent's plan is made of relative paths, and none touches a file outside the home folder.
func TestPlansOfAgents(t *testing.T) {
	home := t.TempDir()
	for _, a := range plug.Agents() {
		t.Run(a.Name, func(t *testing.T) {
			p, err := a.Plan(plug.Setup{Home: home, Getenv: func(string) string { return "" }, Version: "2.1.330"})
			if err != nil || len(p.Files)+len(p.Edits) == 0 {
				t.Fatalf("%+v, %v", p, err)
			}
			for _, f := range p.Files {
				if !strings.HasPrefix(f.Path, home+string(filepath.Separator)) {
					t.Errorf("%s is not below %s", f.Path, home)
				}
			}
			for _, e := range p.Edits {
				if !strings.HasPrefix(e.Path, home+string(filepath.Separator)) {
					t.Errorf("%s is not below %s", e.Path, home)
				}
			}
		})
	}
}

func TestOlder(t *testing.T) {
	for _, c := range []struct {
		version, than string
		older         bool
	}{{"2.1.286", "2.1.287", true}, {"2.1.287", "2.1.287", false}, {"2.1.330", "2.1.287", false}, {"2.0.999", "2.1.1",
		true},
		{"10.0.0", "2.1.287", false}} {
		if got := plug.Older(c.version, c.than); got != c.older {
			t.Errorf("%s before %s: %v", c.version, c.than, got)
		}
	}
}

// TestBlocked: what stands in the way is told before anything is written.
func TestBlocked(t *testing.T) {
	for _, c := range []struct {
		why, says string // nothing is said where nothing is in the way
		before    func(t *testing.T, home string)
	}{
		{why: "nothing", before: func(*testing.T, string) {}},
		{why: "a file where a folder is wanted", says: "plugs is no folder", before: func(t *testing.T, home string) {
			write(t, filepath.Join(home, "plugs"), "mine\n")
		}},
		{why: "a link to nothing there", says: "plugs is no folder", before: func(t *testing.T, home string) {
			if err := os.Symlink(filepath.Join(home, "none"), filepath.Join(home, "plugs")); err != nil {
				t.Skip(err)
			}
		}},
		{why: "a read-only file of the user's", says: "conf: it is read-only", before: func(t *testing.T, home string) {
			readOnly(t, filepath.Join(home, "settings.conf"))
		}},
		{why: "a read-only folder", says: "is read-only", before: func(t *testing.T, home string) {
			if os.Geteuid() == 0 {
				t.Skip("root writes to every folder")
			}
			if err := os.Chmod(home, 0o555); err != nil {
				t.Fatal(err)
			}
		}},
		{why: "a read-only file that stays", before: func(t *testing.T, home string) {
			readOnly(t, filepath.Join(home, "policy.yaml"))
		}},
	} {
		t.Run(c.why, func(t *testing.T) {
			home, folder := t.TempDir(), t.TempDir()
			c.before(t, home)
			steps, err := open(t, folder).Steps(agentAt(home))
			if err != nil {
				t.Fatal(err)
			}
			err = plug.Blocked(steps)
			if (err != nil) != (c.says != "") || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %q", err, c.says)
			}
		})
	}
}

// readOnly writes a file that nobody may change.
func readOnly(t *testing.T, path string) {
	t.Helper()
	write(t, path, "mine\n")
	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
}

// TestSettingsAsWritten: settings that were there before an installation go with it where they say what we write, as
// those that a refused installation left; so they do where nothing is installed. Those that say something else stay.
func TestSettingsAsWritten(t *testing.T) {
	for _, c := range []struct {
		text  string
		stays bool
	}{{"policy\n", false}, {"mine\n", true}} {
		for _, installed := range []bool{true, false} {
			home, folder := t.TempDir(), t.TempDir()
			p := agentAt(home)
			path := filepath.Join(home, "policy.yaml")
			write(t, path, c.text)
			r := open(t, folder)
			if installed {
				install(t, folder, p)
				r = open(t, folder)
			}
			steps, err := r.Removal(p)
			if err == nil {
				err = r.Uninstall(steps)
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(path); (err == nil) != c.stays {
				t.Errorf("%q, installed %v: %v", c.text, installed, err)
			}
			for _, s := range steps {
				if s.Path == path && s.Kept != c.stays {
					t.Errorf("%q, installed %v: kept %v", c.text, installed, s.Kept)
				}
			}
		}
	}
}
