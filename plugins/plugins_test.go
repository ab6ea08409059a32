// Package plugins_test runs the reference plugins as modules: what their own
// packages test natively, in the sandbox.
package plugins_test

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/abi/abitest"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/kit"
	"github.com/kagewasm/kagewasm/runtime"
	"github.com/kagewasm/kagewasm/store"
)

// names are the plugins, each a folder.
var names = []string{"keeper", "markdown"}

// modules are the built plugins: compiled once for all tests.
var modules = sync.OnceValues(func() (map[string]kit.Result, error) {
	dir, err := os.MkdirTemp("", "kagewasm-plugins-")
	if err != nil {
		return nil, err
	}
	tempDir = dir
	built := make(map[string]kit.Result)
	for _, n := range names {
		if built[n], err = kit.Build(context.Background(), kit.Options{Dir: n, Out: dir}); err != nil {
			return nil, err
		}
	}
	return built, nil
})

var tempDir string

func TestMain(m *testing.M) {
	code := m.Run()
	if tempDir != "" {
		_ = os.RemoveAll(tempDir) // of the system's temporary folder
	}
	os.Exit(code)
}

// byLength counts a token for every 4 bytes, as abitest does.
type byLength struct{}

func (byLength) Text(s string) int             { return (len(s) + 3) / 4 }
func (c byLength) Message(m *abi.Message) int { return 4 + c.Text(m.Text()) }

// load builds and loads a plugin, with everything it asks for granted.
func load(t testing.TB, name string, kv runtime.KV) *runtime.Plugin {
	t.Helper()
	built, err := modules()
	if err != nil {
		t.Fatal(err)
	}
	r, err := runtime.New(t.Context(), runtime.Options{KV: kv, Counter: byLength{}, CacheDir: filepath.Join(tempDir, "cache")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(t.Context()) })
	p, err := r.LoadFile(t.Context(), built[name].Path, runtime.PluginOptions{Grants: runtime.GrantAll(built[name].Manifest)})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestConformance(t *testing.T) {
	for _, n := range names {
		t.Run(n, func(t *testing.T) {
			p := load(t, n, store.MemoryKV(store.KVOptions{}))
			abitest.Run(t, p.Manifest(), p)
		})
	}
}

func readSession(t testing.TB, path string) (msgs []abi.Message) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		var m abi.Message
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			t.Fatal(err)
		}
		if m.Role != "" {
			msgs = append(msgs, m)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return msgs
}

// TestSharedSessions: real sessions are answered, and the answers pass.
func TestSharedSessions(t *testing.T) {
	for _, n := range names {
		p := load(t, n, store.MemoryKV(store.KVOptions{}))
		for _, path := range shared.Sessions(t) {
			in := abitest.NewInput(p.Manifest(), readSession(t, path), 0)
			out, stats, err := p.Call(t.Context(), in)
			if err != nil {
				t.Errorf("%s: %s: %v", n, path, err)
				continue
			}
			if out != nil {
				if err := abitest.CheckOutput(p.Manifest(), in, out); err != nil {
					t.Errorf("%s: %s: %v", n, path, err)
				}
			}
			t.Logf("%s: %s: %d KB in %.0f ms, %d MiB", n, filepath.Base(path), stats.InputBytes>>10, stats.MS, stats.PeakMemoryBytes>>20)
		}
	}
}
