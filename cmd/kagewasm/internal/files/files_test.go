package files_test

import (
	"os"
	"path/filepath"
	goruntime "runtime"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/files"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
)

// then is longer ago than any writer lives.
var then = time.Now().Add(-48 * time.Hour)

func link(t *testing.T, to, path string) {
	t.Helper()
	if err := os.Symlink(to, path); err != nil {
		t.Skip("no links here:", err)
	}
}

// TestOneFileTwice: two outputs that would be one file are refused, whether it is there
// yet or not, and whatever links lead to it.
func TestOneFileTwice(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(dir+"/real", 0o700); err != nil {
		t.Fatal(err)
	}
	link(t, "out.jsonl", dir+"/link")
	link(t, dir+"/link", dir+"/links")
	link(t, "real", dir+"/folder")
	link(t, "real/not/there", dir+"/deep")
	for _, tc := range []struct {
		why, a, b string
		same      bool
	}{
		{"one name", "out.jsonl", "out.jsonl", true},
		{"two names", "out.jsonl", "report.json", false},
		{"a way round", "out.jsonl", "real/../out.jsonl", true},
		{"a link to what is not there", "out.jsonl", "link", true},
		{"links to what is not there", "links", "link", true},
		{"through a folder", "folder/out.jsonl", "real/out.jsonl", true},
		{"other folders", "folder/out.jsonl", "out.jsonl", false},
		{"no folder yet", "deep", "folder/not/there", true},
		{"no file", "-", "-", false},
	} {
		t.Run(tc.why, func(t *testing.T) {
			at := func(name string) string {
				if name == "-" {
					return name
				}
				return dir + "/" + name
			}
			err := files.CheckOutputs(nil, files.Named("--out", at(tc.a)), files.Named("--report", at(tc.b)))
			if (err != nil) != tc.same || err != nil && ui.ExitCode(err) != ui.ExitUsage {
				t.Errorf("as two outputs: %v", err)
			}
			if err := files.CheckOutputs([]files.File{files.Named("the input", at(tc.a))},
				files.Named("--out", at(tc.b))); (err != nil) != tc.same {
				t.Errorf("as input and output: %v", err)
			}
		})
	}
}

// TestWrite: a link of one's own is followed and stays; permissions are kept; nothing
// else is left in the folder, what a dead writer left before included.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	target, dead := filepath.Join(dir, "target"), filepath.Join(dir, ".tmp-AAAAAAAAAAAAAAAAAAAAAAAAAA")
	for path, mode := range map[string]os.FileMode{target: 0o640, dead: 0o600, filepath.Join(dir, ".tmp-mine"): 0o600} {
		if err := os.WriteFile(path, []byte("old"), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chtimes(dead, then, then); err != nil {
		t.Fatal(err)
	}
	link(t, "target", dir+"/link")
	if err := files.Write(dir+"/link", []byte("new")); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(target)
	if info, serr := os.Stat(target); err != nil || serr != nil || string(got) != "new" || info.Mode().Perm() != 0o640 {
		t.Errorf("%q, %v, %v, %v", got, info.Mode(), err, serr)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 3 {
		t.Errorf("%v, %v", entries, err)
	}
	if to, err := os.Readlink(dir + "/link"); err != nil || to != "target" {
		t.Errorf("%q, %v", to, err)
	}
}

// TestWritePlanted: what somebody else put into a folder that everybody can write to
// leads nowhere, and makes nothing readable.
func TestWritePlanted(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can be two users")
	}
	const other = 65534
	dir, home := t.TempDir(), t.TempDir()
	victim := filepath.Join(home, "victim")
	if err := os.WriteFile(victim, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"file": victim, "folder": home} {
		link(t, to, filepath.Join(dir, name))
		if err := os.Lchown(filepath.Join(dir, name), other, other); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"file", "folder/victim", "folder/new"} {
		t.Run(name, func(t *testing.T) {
			if err := files.Write(filepath.Join(dir, name), []byte("theirs")); err == nil {
				t.Error("no error")
			}
		})
	}
	if got, err := os.ReadFile(victim); err != nil || string(got) != "mine" {
		t.Errorf("%q, %v", got, err)
	}
	open := filepath.Join(dir, "open")
	if err := os.WriteFile(open, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(open, other, other); err != nil {
		t.Fatal(err)
	}
	if err := files.Write(open, []byte("a session")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(open); err != nil || info.Mode().Perm()&0o002 != 0 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// TestReadFails: what cannot be read is a bad input.
func TestReadFails(t *testing.T) {
	if _, err := files.Read(t.Context(), nil, t.TempDir()); abi.CodeOf(err) != abi.CodeBadInput {
		t.Errorf("%v", err)
	}
}

// TestWriteFor: what is made of a file nobody may read who may not read that file, and one that was there stays
// as it was.
func TestWriteFor(t *testing.T) {
	if goruntime.GOOS == "windows" {
		t.Skip("files have no such permissions here")
	}
	dir := t.TempDir()
	made := func(name string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	plain := filepath.Join(dir, "plain")
	if err := files.Write(plain, nil); err != nil {
		t.Fatal(err)
	}
	usual, err := os.Stat(plain) // as the umask has it
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		of   string
		want os.FileMode
	}{
		{made("private", 0o600), 0o600}, {made("program", 0o700), 0o600}, {made("shown", 0o644), usual.Mode().Perm()},
		{made("locked", 0o444), usual.Mode().Perm()}, {made("group", 0o640), usual.Mode().Perm() & 0o660},
		{dir + "/gone", 0o600}, {"", 0o600}, {dir, 0o600}, {"-", usual.Mode().Perm()},
	} {
		out := filepath.Join(dir, "out")
		os.Remove(out)
		for range 2 {
			if err := files.WriteFor(out, []byte("y"), c.of); err != nil {
				t.Fatal(err)
			}
			if info, err := os.Stat(out); err != nil || info.Mode().Perm() != c.want {
				t.Errorf("of %s: %v, %v; want %v", c.of, info.Mode(), err, c.want)
			}
		}
		if err := files.WriteFor(made("there", 0o640), []byte("y"), c.of); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(filepath.Join(dir, "there")); err != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("over one that was there: %v, %v", info.Mode(), err)
		}
	}
}
