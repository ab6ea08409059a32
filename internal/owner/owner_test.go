//go:build unix

package owner_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/kagewasm/kagewasm/internal/owner"
)

// wrong fails unless err is an *owner.Error that says so.
func wrong(t *testing.T, err error, why string) {
	t.Helper()
	var e *owner.Error
	if !errors.As(err, &e) || !strings.Contains(e.Why, why) {
		t.Errorf("%v, not %q", err, why)
	}
}

func TestPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	if err := owner.Private(dir); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []fs.FileMode{0o755, 0o777, 0o701} {
		t.Run(mode.String(), func(t *testing.T) {
			if err := os.Chmod(dir, mode); err != nil {
				t.Fatal(err)
			}
			if err := owner.Private(dir); err != nil {
				t.Errorf("an empty folder is made private: %v", err)
			}
			file := filepath.Join(dir, "x")
			if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Chmod(dir, mode)); err != nil {
				t.Fatal(err)
			}
			wrong(t, owner.Private(dir), "others can read it or write to it")
			wrong(t, owner.Check(dir), "others can read it or write to it")
			if err := errors.Join(os.Remove(file), os.Chmod(dir, 0o700)); err != nil {
				t.Fatal(err)
			}
		})
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(dir, 12345, -1); err != nil {
			t.Fatal(err)
		}
		wrong(t, owner.Private(dir), "another user")
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wrong(t, owner.Private(file), "not a folder")
}

func TestKey(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	if _, err := owner.Read(home, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	mine, err := owner.Make(home, nil)
	if err != nil {
		t.Fatal(err)
	}
	again, err := owner.Make(home, nil)
	if err != nil || string(again) != string(mine) {
		t.Errorf("a key is made once: %v", err)
	}
	key, err := owner.Make(dir, mine)
	if got, readErr := owner.Read(dir, mine); err != nil || readErr != nil || string(got) != string(key) ||
		string(key) == string(mine) {
		t.Errorf("%v, %v", err, readErr)
	}
	wrong(t, second(owner.Read(dir, nil)), "your key does not vouch for it")
	wrong(t, second(owner.Read(home, mine)), "your key does not vouch for it")
	wrong(t, second(owner.Read(dir, owner.Key(strings.Repeat("k", 32)))), "your key does not vouch for it")
	if string(key.Sum("a", "b")) == string(key.Sum("ab")) || string(key.Sum("a")) == string(mine.Sum("a")) {
		t.Error("a sum is of the key and of each part")
	}
	path := filepath.Join(dir, owner.File)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"empty": "", "cut": string(data[:50]),
		"no key": "kagewasm state 1\nkey \nby \n", "more": string(data) + "x"} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if got, err := owner.Read(dir, mine); err == nil {
				t.Errorf("%x", got)
			}
		})
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	wrong(t, second(owner.Read(dir, mine)), "others can read it")
	if err := errors.Join(os.Remove(path), os.Symlink(filepath.Join(home, owner.File), path)); err != nil {
		t.Fatal(err)
	}
	wrong(t, second(owner.Read(dir, nil)), "not a plain file")
}

func second[T any](_ T, err error) error { return err }

// TestKeyIsMadeOnce: of many who make one at the same time all have the same, and
// nothing else is left.
func TestKeyIsMadeOnce(t *testing.T) {
	dir := t.TempDir()
	var keys [8]owner.Key
	var wg sync.WaitGroup
	for i := range keys {
		wg.Go(func() {
			var err error
			if keys[i], err = owner.Make(dir, nil); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, k := range keys {
		if string(k) != string(keys[0]) {
			t.Errorf("%x and %x", k, keys[0])
		}
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
}
