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
	"github.com/kagewasm/kagewasm/runtime/internal/sandbox"
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
		r := plugintest.New(t, runtime.Options{CacheDir: dir, CacheKey: cacheKey})
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
			"cut": data[:len(data)/2], "empty": {}, "flipped": flip(data, len(data)/2),
			"flipped at the start": flip(data, 12), "flipped at the end": flip(data, len(data)-1),
		} {
			t.Run(name, func(t *testing.T) {
				if err := os.WriteFile(path, damaged, 0o600); err != nil {
					t.Fatal(err)
				}
				run()
				got := files(t, dir)
				if again := !bytes.Equal(got[path], damaged) && len(got[path]) == len(data); len(got) != len(fresh) || !again {
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

// A folder that holds something and is not the user's alone is refused, with what
// to do; an empty one is made private.
func TestCacheOfOthers(t *testing.T) {
	if goruntime.GOOS == "windows" {
		t.Log("modes mean nothing here")
		return
	}
	for _, mode := range []fs.FileMode{0o777, 0o755, 0o710} {
		t.Run(mode.String(), func(t *testing.T) {
			dir := t.TempDir()
			plugintest.New(t, runtime.Options{CacheDir: dir})
			if info := must(os.Stat(dir)); info.Mode().Perm() != 0o700 {
				t.Errorf("an empty folder has mode %v", info.Mode())
			}
			if err := os.Chmod(dir, mode); err != nil {
				t.Fatal(err)
			}
			_, err := runtime.New(context.Background(), runtime.Options{CacheDir: dir})
			if e := plugintest.WantError(t, err, abi.CodeUsage); !strings.Contains(e.Hint, "chmod 700 "+dir) {
				t.Errorf("the hint is %q", e.Hint)
			}
		})
	}
}

// Machine code that somebody else wrote, in whatever folder, is not run: it is
// compiled again.
func TestCacheFromSomewhereElse(t *testing.T) {
	wasm, other := wasmtest.Answer(pre, `{"inject":"x"}`), wasmtest.Answer(pre, `{"inject":"y"}`)
	say := func(wasm []byte, o runtime.Options) string {
		out, _, err := plugintest.MustLoad(t, plugintest.New(t, o), wasm, runtime.PluginOptions{}).Call(
			t.Context(), plugintest.HookInput())
		if err != nil {
			t.Fatal(err)
		}
		return out.Inject
	}
	// swap puts the code of one module in the place of another's.
	swap := func(dir string) {
		entries := must(filepath.Glob(filepath.Join(dir, "*-*")))
		if len(entries) != 2 {
			t.Fatalf("%d entries", len(entries))
		}
		for _, e := range [][2]string{{entries[0], dir + "/t"}, {entries[1], entries[0]}, {dir + "/t", entries[1]}} {
			if err := os.Rename(e[0], e[1]); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, c := range map[string]struct{ theirs, mine runtime.Options }{
		"sealed by another key": {runtime.Options{CacheKey: bytes.Repeat([]byte{1}, 32)},
			runtime.Options{CacheKey: cacheKey}},
		"the code of another module":   {runtime.Options{CacheKey: cacheKey}, runtime.Options{CacheKey: cacheKey}},
		"in a folder with its own key": {runtime.Options{}, runtime.Options{}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "cache")
			c.theirs.CacheDir, c.mine.CacheDir = dir, dir
			say(wasm, c.theirs)
			say(other, c.theirs)
			if name != "sealed by another key" {
				swap(dir)
			}
			before := files(t, dir)
			if got := say(wasm, c.mine) + say(other, c.mine); got != "xy" {
				t.Errorf("it said %q", got)
			}
			for path, data := range files(t, dir) {
				if filepath.Base(path) == "sum" && bytes.Equal(data, before[path]) {
					t.Errorf("%s was taken as it is", path)
				}
			}
		})
	}
}

// cacheKey is the user's.
var cacheKey = bytes.Repeat([]byte{7}, 32)

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
// module is compiled again, not what stands for it there.
func TestCacheOfAnotherMachine(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	wasm := wasmtest.Answer(pre, `{"inject":"x"}`)
	for range 2 {
		p := plugintest.MustLoad(t, plugintest.New(t, runtime.Options{CacheDir: dir, CacheKey: cacheKey}), wasm,
			runtime.PluginOptions{})
		if out, _, err := p.Call(context.Background(), plugintest.HookInput()); err != nil || out.Inject != "x" {
			t.Fatalf("%+v, %v", out, err)
		}
		code := must(filepath.Glob(filepath.Join(dir, "*", "wazero-*", "*")))
		if len(code) != 1 {
			t.Fatalf("files of machine code: %q", code)
		}
		if err := os.Remove(code[0]); err != nil {
			t.Fatal(err)
		}
		if err := sandbox.Seal(cacheKey, filepath.Dir(filepath.Dir(code[0]))); err != nil {
			t.Fatal(err)
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
		t.Fatalf("wazero is %s, and the disk cache was last looked at with %s. It relies on one file of machine "+
			"code for each module, "+
			"named by the module's bytes: see that the tests of this file hold, that a load from the cache is as "+
			"fast as before "+
			"(BenchmarkFirstCall in package runtime), and write the new version here", version, known)
	}
	dir := filepath.Join(t.TempDir(), "cache")
	for _, how := range []string{"compiled", "cached"} {
		t.Run(how, func(t *testing.T) {
			p := plugintest.MustLoad(t, plugintest.New(t, runtime.Options{CacheDir: dir}),
				wasmtest.Answer(pre, `{"inject":"x"}`), runtime.PluginOptions{})
			if out, _, err := p.Call(t.Context(), plugintest.HookInput()); err != nil || out.Inject != "x" {
				t.Errorf("%+v, %v", out, err)
			}
		})
	}
	if code, err := filepath.Glob(filepath.Join(dir, "*", "wazero-*", "*")); err != nil || len(code) != 1 {
		t.Errorf("files of machine code: %q, %v", code, err)
	}
}
