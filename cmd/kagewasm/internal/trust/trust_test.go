package trust_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/trust"
	"github.com/kagewasm/kagewasm/config"
)

const (
	sends   = "models: {m: {provider: openai, model: x, base_url: \"http://localhost:1\"}}\n"
	narrows = "compaction: {max_tokens: 1000, redact: [\"corp-[0-9]{8}\"]}\n"
)

// write writes a file, and the folders on the way to it.
func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func link(t *testing.T, to, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(to, path); err != nil {
		t.Skip("no links here:", err)
	}
}

func read(t *testing.T, path string) *config.Config {
	t.Helper()
	c, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestFromElsewhere: a configuration that may be somebody else's is not used before it
// is trusted, on whatever way it was reached.
func TestFromElsewhere(t *testing.T) {
	for why, lay := range map[string]func(t *testing.T, dir string) (found string){
		"in a repository": func(t *testing.T, dir string) string {
			write(t, dir+"/repo/.git/HEAD", "")
			return write(t, dir+"/repo/a/b/"+config.FileName, sends)
		},
		"in a work tree": func(t *testing.T, dir string) string {
			write(t, dir+"/tree/.git", "gitdir: /elsewhere")
			return write(t, dir+"/tree/"+config.FileName, sends)
		},
		"through a link to a folder of a repository": func(t *testing.T, dir string) string {
			write(t, dir+"/repo/.git/HEAD", "")
			write(t, dir+"/repo/sub/"+config.FileName, sends)
			link(t, dir+"/repo/sub", dir+"/home/link")
			return dir + "/home/link/" + config.FileName
		},
		"through a link above it": func(t *testing.T, dir string) string {
			write(t, dir+"/repo/.hg/x", "")
			write(t, dir+"/repo/sub/deep/"+config.FileName, sends)
			link(t, "../repo/sub", dir+"/home/link")
			return dir + "/home/link/deep/" + config.FileName
		},
		"through a link of a repository": func(t *testing.T, dir string) string {
			write(t, dir+"/repo/.git/HEAD", "")
			write(t, dir+"/other/"+config.FileName, sends)
			link(t, dir+"/other", dir+"/repo/sub")
			link(t, dir+"/repo/sub", dir+"/home/link")
			return dir + "/home/link/" + config.FileName
		},
		"a link to one in a repository": func(t *testing.T, dir string) string {
			write(t, dir+"/repo/.git/HEAD", "")
			write(t, dir+"/repo/its.yaml", sends)
			link(t, dir+"/repo/its.yaml", dir+"/home/"+config.FileName)
			return dir + "/home/" + config.FileName
		},
		"a link in a repository": func(t *testing.T, dir string) string {
			write(t, dir+"/repo/.git/HEAD", "")
			write(t, dir+"/home/mine.yaml", sends)
			link(t, dir+"/home/mine.yaml", dir+"/repo/"+config.FileName)
			return dir + "/repo/" + config.FileName
		},
		"unpacked from an archive": func(t *testing.T, dir string) string {
			path := write(t, dir+"/project-1.0/"+config.FileName, sends)
			then := time.Now().Add(-30 * 24 * time.Hour)
			if err := os.Chtimes(path, then, then); err != nil {
				t.Fatal(err)
			}
			return path
		},
		"unpacked with a time to come": func(t *testing.T, dir string) string {
			path := write(t, dir+"/project-1.0/"+config.FileName, sends)
			then := time.Now().Add(time.Hour)
			if err := os.Chtimes(path, then, then); err != nil {
				t.Fatal(err)
			}
			return path
		},
		"that takes a protection away": func(t *testing.T, dir string) string {
			write(t, dir+"/repo/.git/HEAD", "")
			return write(t, dir+"/repo/"+config.FileName, "compaction: {redact: off}\n")
		},
	} {
		t.Run(why, func(t *testing.T) {
			dir, list := t.TempDir(), trust.List{Dir: filepath.Join(t.TempDir(), "state")}
			c := read(t, lay(t, dir))
			if err := list.Check(c); abi.CodeOf(err) != abi.CodeUsage ||
				!strings.Contains(err.Error(), "nobody has trusted it") {
				t.Fatalf("%v", err)
			}
			if err := list.Add(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			if err := list.Check(c); err != nil {
				t.Errorf("trusted, and %v", err)
			}
		})
	}
}

// TestMarks: every version control system has its mark.
func TestMarks(t *testing.T) {
	for _, mark := range []string{".git", ".hg", ".svn", ".jj", ".sl", ".bzr", "_darcs", ".pijul", ".fslckout", "_FOSSIL_",
		"CVS/Root", "_MTN", ".got", ".git_archival.txt", ".hg_archival.txt"} {
		t.Run(mark, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, filepath.FromSlash(mark)), "")
			c := read(t, write(t, dir+"/sub/"+config.FileName, sends))
			if err := (trust.List{}).Check(c); abi.CodeOf(err) != abi.CodeUsage ||
				!strings.Contains(err.Error(), filepath.FromSlash(mark)) {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestOwn: one's own configuration is used, and so is anybody's that only narrows.
func TestOwn(t *testing.T) {
	dir, list := t.TempDir(), trust.List{Dir: filepath.Join(t.TempDir(), "state")}
	write(t, dir+"/CVS", "no folder")
	own := write(t, dir+"/home/"+config.FileName, sends)
	if err := list.Check(read(t, own)); err != nil {
		t.Error(err)
	}
	write(t, dir+"/repo/.git/HEAD", "")
	if err := list.Check(read(t, write(t, dir+"/repo/"+config.FileName, narrows))); err != nil {
		t.Error(err)
	}
}

// TestListOfOthers: a list that somebody else could have written trusts nothing, and
// says so; the one of an earlier version still counts.
func TestListOfOthers(t *testing.T) {
	dir, state := t.TempDir(), filepath.Join(t.TempDir(), "state")
	list := trust.List{Dir: state}
	write(t, dir+"/.git/HEAD", "")
	c := read(t, write(t, dir+"/"+config.FileName, sends))
	real, err := filepath.EvalSymlinks(c.File)
	if err != nil {
		t.Fatal(err)
	}
	earlier := write(t, state+"/trusted", c.Digest+"  "+real+"\n")
	if err := list.Check(c); err != nil {
		t.Errorf("the list of an earlier version: %v", err)
	}
	for _, path := range []string{earlier, state} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := list.Check(c); abi.CodeOf(err) != abi.CodeUsage || !strings.Contains(err.Error(), "others can") {
			t.Errorf("%s: %v", path, err)
		}
		if err := os.Chmod(path, info.Mode().Perm()); err != nil {
			t.Fatal(err)
		}
	}
	if err := list.Check(c); err != nil {
		t.Error(err)
	}
}

// TestAddTogether: what several trust at a time is all trusted.
func TestAddTogether(t *testing.T) {
	dir, list := t.TempDir(), trust.List{Dir: filepath.Join(t.TempDir(), "state")}
	write(t, dir+"/.git/HEAD", "")
	var all []*config.Config
	for i := range 12 {
		all = append(all, read(t, write(t, fmt.Sprintf("%s/%d/%s", dir, i, config.FileName), sends)))
	}
	var wg sync.WaitGroup
	for _, c := range all {
		wg.Go(func() {
			if err := list.Add(t.Context(), c); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, c := range all {
		if err := list.Check(c); err != nil {
			t.Error(err)
		}
	}
}
