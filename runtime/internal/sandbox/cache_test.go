package sandbox_test

import (
	"bytes"
	"context"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
	"github.com/kagewasm/kagewasm/runtime"
)

// files returns the files below dir and what is in them.
func files(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	found := make(map[string][]byte)
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		found[path], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestCache(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	wasm := wasmtest.Answer(pre, `{"inject":"x"}`)
	run := func() {
		t.Helper()
		r := plugintest.New(t, runtime.Options{CacheDir: dir})
		p := plugintest.MustLoad(t, r, wasm, runtime.PluginOptions{})
		out, _, err := p.Call(context.Background(), plugintest.HookInput())
		if err != nil || out.Inject != "x" {
			t.Fatalf("%+v, %v", out, err)
		}
	}
	run()
	info, err := os.Stat(dir)
	if err != nil || goruntime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
		t.Fatalf("%v, %v", info.Mode(), err)
	}
	fresh := files(t, dir)
	if len(fresh) != 3 {
		t.Fatalf("the module as the engine gets it, what was compiled, and a sum: not %d files", len(fresh))
	}
	run()
	for path, data := range files(t, dir) {
		if !bytes.Equal(data, fresh[path]) {
			t.Errorf("%s was written again", path)
		}
	}
	// Whatever is damaged is noticed before it runs, and made again.
	for path, data := range fresh {
		for name, damaged := range map[string][]byte{
			"cut": data[:len(data)/2], "empty": {}, "flipped": flip(data, len(data)/2), "flipped at the start": flip(data, 12), "flipped at the end": flip(data, len(data)-1),
		} {
			t.Run(name, func(t *testing.T) {
				if err := os.WriteFile(path, damaged, 0o600); err != nil {
					t.Fatal(err)
				}
				run()
				if got := files(t, dir); len(got) != len(fresh) || !bytes.Equal(got[path], data) {
					t.Errorf("%s of %s was not made again", name, filepath.Base(path))
				}
			})
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		run()
	}
	// A cache that cannot be written to is no reason not to load.
	for path := range fresh {
		os.RemoveAll(filepath.Dir(path))
	}
	for _, e := range must(os.ReadDir(dir)) {
		os.RemoveAll(filepath.Join(dir, e.Name()))
		if err := os.WriteFile(filepath.Join(dir, e.Name()), nil, 0o400); err != nil {
			t.Fatal(err)
		}
	}
	run()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = runtime.New(context.Background(), runtime.Options{CacheDir: dir})
	plugintest.WantError(t, err, abi.CodeUsage)
}

func TestCacheOfOthers(t *testing.T) {
	if goruntime.GOOS == "windows" {
		t.Log("modes mean nothing here")
		return
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	_, err := runtime.New(context.Background(), runtime.Options{CacheDir: dir})
	if e := plugintest.WantError(t, err, abi.CodeUsage); e.Hint == "" {
		t.Error("no hint")
	}
}

func flip(data []byte, i int) []byte {
	out := bytes.Clone(data)
	out[i] ^= 0x10
	return out
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// An entry without machine code for this machine, though it is whole: the
// module is compiled anew, not what stands for it there.
func TestCacheOfAnotherMachine(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	wasm := wasmtest.Answer(pre, `{"inject":"x"}`)
	for range 2 {
		p := plugintest.MustLoad(t, plugintest.New(t, runtime.Options{CacheDir: dir}), wasm, runtime.PluginOptions{})
		if out, _, err := p.Call(context.Background(), plugintest.HookInput()); err != nil || out.Inject != "x" {
			t.Fatalf("%+v, %v", out, err)
		}
		var left [][]byte
		for path, data := range files(t, dir) {
			if filepath.Base(path) != "sum" {
				continue
			}
			for line := range bytes.Lines(data) {
				name := string(bytes.Fields(line)[2])
				if filepath.Dir(name) == "." {
					left = append(left, line)
				} else if err := os.Remove(filepath.Join(filepath.Dir(path), name)); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(path, bytes.Join(left, nil), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if len(left) != 1 {
			t.Fatalf("%d files beside the machine code", len(left))
		}
	}
}

// The disk cache keeps machine code under the name that wazero gives a stub
// module, which wazero does not promise to look under: see diskCache.
func TestCacheFence(t *testing.T) {
	const known = "v1.12.0"
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}", "github.com/tetratelabs/wazero").Output()
	if err != nil {
		t.Fatal(err)
	}
	if version := strings.TrimSpace(string(out)); version != known {
		t.Fatalf("wazero is %s, and the disk cache was last looked at with %s. It relies on one file of machine code for each module, "+
			"named by the module's bytes: see that the tests of this file hold, that a load from the cache is as fast as before "+
			"(BenchmarkFirstCall in package runtime), and write the new version here", version, known)
	}
	dir := filepath.Join(t.TempDir(), "cache")
	for _, how := range []string{"compiled", "cached"} {
		t.Run(how, func(t *testing.T) {
			p := plugintest.MustLoad(t, plugintest.New(t, runtime.Options{CacheDir: dir}), wasmtest.Answer(pre, `{"inject":"x"}`), runtime.PluginOptions{})
			if out, _, err := p.Call(t.Context(), plugintest.HookInput()); err != nil || out.Inject != "x" {
				t.Errorf("%+v, %v", out, err)
			}
		})
	}
	if code, err := filepath.Glob(filepath.Join(dir, "*", "wazero-*", "*")); err != nil || len(code) != 1 {
		t.Errorf("files of machine code: %q, %v", code, err)
	}
}
