package atomicfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/kagewasm/kagewasm/internal/atomicfile"
)

// TestWrite: what is there is replaced, folders are made, and nothing else is left.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, text := range []string{"first", "second"} {
		t.Run(text, func(t *testing.T) {
			if err := atomicfile.Write(root, "a/b/c.txt", []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if got, err := root.ReadFile("a/b/c.txt"); err != nil || string(got) != text {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// TestWriteFails: where it fails nothing is left, and what stands there stays.
func TestWriteFails(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "full", "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	for why, path := range map[string]string{
		"a folder stands there": filepath.Join(dir, "full"),
		"no folder":             filepath.Join(dir, "none", "file"),
	} {
		t.Run(why, func(t *testing.T) {
			if err := atomicfile.WriteFile(path, []byte("x"), 0o600); err == nil {
				t.Error("no error")
			}
			if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
				t.Errorf("left behind: %v, %v", entries, err)
			}
		})
	}
}

// TestWriteLinks: a link is replaced, and what it leads to is not touched; none leads
// out of the root.
func TestWriteLinks(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	target := filepath.Join(outside, "target")
	if err := os.WriteFile(target, []byte("theirs"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"file": target, "folder": outside} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Skip("no links here:", err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := atomicfile.Write(root, "file", []byte("mine"), 0o600); err != nil {
		t.Error(err)
	}
	if err := atomicfile.Write(root, "folder/target", []byte("mine"), 0o600); err == nil {
		t.Error("a link led out of the folder")
	}
	if got, err := os.ReadFile(target); err != nil || string(got) != "theirs" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestCreate: one of several gets to write a file that was not there, and what stands
// there, a link included, stays.
func TestCreate(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	var wg sync.WaitGroup
	var wrote atomic.Int32
	for i := range 8 {
		wg.Go(func() {
			switch err := atomicfile.Create(root, "new", []byte{byte('0' + i)}, 0o600); {
			case err == nil:
				wrote.Add(1)
			case !errors.Is(err, fs.ErrExist):
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got, err := root.ReadFile("new"); err != nil || len(got) != 1 || wrote.Load() != 1 {
		t.Errorf("%q by %d, %v", got, wrote.Load(), err)
	}
	if err := os.Symlink("nowhere", filepath.Join(dir, "link")); err != nil {
		t.Skip("no links here:", err)
	}
	if err := atomicfile.Create(root, "link", nil, 0o600); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over a link: %v", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// TestErrorsNameTheFile: an error is about the file that was to be written.
func TestErrorsNameTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "full")
	if err := os.MkdirAll(filepath.Join(path, "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	err := atomicfile.WriteFile(path, nil, 0o600)
	if named, ok := errors.AsType[*fs.PathError](err); !ok || named.Path != path {
		t.Errorf("%v", err)
	}
}
