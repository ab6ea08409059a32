// Package testcache keeps from one run of tests to the next what takes seconds to make, and
// shares it among packages: guests that Go builds, and the machine code of guests.
package testcache

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/internal/shared"
)

// Dir is a folder for what depends on nothing but the sources below these paths of the project,
// the modules that it needs, and Go. Where one of them changes it is another folder, empty at
// first. Sources are all files but those of tests. Several processes use it at once.
func Dir(tb testing.TB, sources ...string) string {
	tb.Helper()
	root := shared.Root(tb)
	once, _ := dirs.LoadOrStore(strings.Join(sources, " "), sync.OnceValues(func() (string, error) {
		home, err := os.UserCacheDir()
		if err != nil {
			return "", err
		}
		return open(filepath.Join(home, "kagewasm-tests"), root, sources)
	}))
	dir, err := once.(func() (string, error))()
	if err != nil {
		tb.Fatal(err)
	}
	return dir
}

var dirs sync.Map // of func() (string, error), by the sources: they are read once in a process

// open makes the folder for the sources below root.
func open(home, root string, sources []string) (string, error) {
	sum, err := sumOf(root, append([]string{"go.mod", "go.sum"}, sources...))
	if err != nil {
		return "", err
	}
	dir := filepath.Join(home, sum)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	_ = os.Chtimes(dir, time.Time{}, time.Now()) // otherwise it is made again tomorrow
	Sweep(home)
	return dir, nil
}

// Sweep removes the folders in a folder that were not changed for a day.
func Sweep(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && e.IsDir() && time.Since(info.ModTime()) > 24*time.Hour {
			_ = os.RemoveAll(filepath.Join(dir, e.Name())) // another process may be doing it
		}
	}
}

// sumOf is the sum of all files below the paths, but for tests.
func sumOf(root string, paths []string) (string, error) {
	h, tree := sha256.New(), os.DirFS(root)
	fmt.Fprintln(h, goruntime.Version(), goruntime.GOOS, goruntime.GOARCH)
	for _, path := range paths {
		err := fs.WalkDir(tree, path, func(name string, e fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case e.IsDir() && name != path && (e.Name() == "testdata" || e.Name() == "node_modules"):
				return fs.SkipDir
			case !e.Type().IsRegular() || strings.HasSuffix(name, "_test.go"):
				return nil
			}
			data, err := fs.ReadFile(tree, name)
			fmt.Fprintln(h, name, len(data))
			_, _ = h.Write(data) // never fails
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:32], nil
}
