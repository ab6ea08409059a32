package testcache

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestDir: the folder is another one when a source of it changes, and only then.
func TestDir(t *testing.T) {
	home, root := t.TempDir(), t.TempDir()
	for _, name := range []string{"go.mod", "go.sum", "a/a.go", "a/testdata/x", "guest/testdata/main.go"} {
		write(t, filepath.Join(root, name), "first")
	}
	dir := func() string {
		t.Helper()
		dir, err := open(home, root, []string{"a", "guest/testdata"})
		if err != nil {
			t.Fatal(err)
		}
		return dir
	}
	last := dir()
	for _, tt := range []struct {
		name, file string
		another    bool
	}{
		{"nothing", "", false},
		{"a source", "a/a.go", true},
		{"a new source", "a/below/words.txt", true},
		{"the modules", "go.sum", true},
		{"a source in a folder of test data that is named", "guest/testdata/main.go", true},
		{"a test", "a/a_test.go", false},
		{"data of a test", "a/testdata/x", false},
		{"another package", "b/b.go", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.file != "" {
				write(t, filepath.Join(root, tt.file), "second")
			}
			now := dir()
			if (now != last) != tt.another {
				t.Errorf("another folder: %v, want %v", now != last, tt.another)
			}
			last = now
		})
	}
	if _, err := open(home, root, []string{"nowhere"}); err == nil {
		t.Error("a source that is not there was read")
	}
}

// TestSweep: who asks for a folder keeps it; what nobody asked for since yesterday goes.
func TestSweep(t *testing.T) {
	home, root := t.TempDir(), t.TempDir()
	write(t, filepath.Join(root, "go.mod"), "first")
	write(t, filepath.Join(root, "go.sum"), "first")
	dir, err := open(home, root, nil)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "module"), "kept")
	write(t, filepath.Join(home, "old", "module"), "unused")
	write(t, filepath.Join(home, "owner"), "a file")
	yesterday := time.Now().Add(-25 * time.Hour)
	for _, name := range []string{dir, filepath.Join(home, "old"), filepath.Join(home, "owner")} {
		if err := os.Chtimes(name, yesterday, yesterday); err != nil {
			t.Fatal(err)
		}
	}
	if again, err := open(home, root, nil); err != nil || again != dir {
		t.Fatalf("%s, %v", again, err)
	}
	for name, want := range map[string]bool{filepath.Base(dir) + "/module": true, "owner": true, "old": false} {
		t.Run(name, func(t *testing.T) {
			if _, err := os.Stat(filepath.Join(home, name)); (err == nil) != want {
				t.Errorf("it is there: %v, want %v", err == nil, want)
			}
		})
	}
}
