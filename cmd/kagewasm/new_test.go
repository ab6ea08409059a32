package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/abi/abitest"
	"github.com/kagewasm/kagewasm/internal/compilers"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/kit"
	"github.com/kagewasm/kagewasm/runtime"
	"github.com/kagewasm/kagewasm/tokens"
)

// command runs a command line that has to succeed and returns what it prints.
func command(t *testing.T, line ...string) string {
	t.Helper()
	return commandAt(t, "", line...)
}

// commandAt is command of a user whose state is in home.
func commandAt(t *testing.T, home string, line ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := doMain(t.Context(), line,
		env{stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr, stateHome: home}); code != 0 {
		t.Fatalf("kagewasm %s: exit code %d: %s", strings.Join(line, " "), code, stderr.String())
	}
	return stdout.String()
}

// newPlugin makes and builds a plugin and returns its folder and its module.
func newPlugin(t *testing.T, lang, role string) (dir, wasm string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "plugin")
	command(t, "new", "tried", "--lang", lang, "--role", role, "--dir", dir)
	compilers.Prepare(t, lang, dir)
	wasm = filepath.Join(dir, "tried.wasm")
	command(t, "build", dir, "-o", wasm)
	return dir, wasm
}

// turned is a module that is loaded for each configuration that it is called
// with. It notes its answers by input.
type turned struct {
	t       *testing.T
	rt      *runtime.Runtime
	wasm    string
	loaded  map[string]*runtime.Plugin
	answers map[string]*abi.Output
}

// Call implements abitest.Plugin.
func (c *turned) Call(ctx context.Context, in *abi.Input) (out *abi.Output, stats abi.CallStats, err error) {
	config, doc := c.json(in.Config), c.json(in)
	if c.loaded[config] == nil {
		if c.loaded[config], err = plugintest.LoadFile(c.t.Context(), c.rt, c.wasm,
			runtime.PluginOptions{Config: in.Config}); err != nil {
			c.t.Fatal(err)
		}
	}
	out, stats, err = c.loaded[config].Call(ctx, in)
	if out.IsZero() {
		out = nil
	}
	c.answers[doc] = out
	return out, stats, err
}

func (c *turned) json(v any) string {
	doc, err := json.Marshal(v)
	if err != nil {
		c.t.Fatal(err)
	}
	return string(doc)
}

// TestNew: in every language and role a new plugin builds, to the same bytes
// in every folder, keeps the rules in the sandbox, says what the one in Go says,
// changes a compaction, and passes its own tests. What Go builds takes long:
// outside of CI its observer alone is built, once, and changes a compaction.
func TestNew(t *testing.T) {
	features.Proves(t, "N1", "N6")
	counter, err := tokens.New(tokens.O200k, tokens.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rt := plugintest.New(t, runtime.Options{Counter: counter, CacheDir: plugintest.CacheDir(t)})
	home := newState(t)
	plain := compactDemo(t, home)
	for _, role := range kit.Roles {
		if strings.Contains(plain, signs[role]) {
			t.Fatalf("the demo has %s without a plugin", signs[role])
		}
		var first map[string]*abi.Output
		for _, lang := range kit.Langs {
			t.Run(role+" in "+lang, func(t *testing.T) {
				whole := soak.Count(0, 1, 1) == 1
				if !whole && role != kit.Roles[0] {
					soak.Only(t, "builds another plugin")
				}
				dir, wasm := newPlugin(t, lang, role)
				if whole && role == kit.Roles[0] { // once a language
					_, again := newPlugin(t, lang, role)
					if a, b := read(t, wasm), read(t, again); !bytes.Equal(a, b) {
						t.Errorf("built in two folders: %d and %d bytes, not the same", len(a), len(b))
					}
				}
				p, err := plugintest.LoadFile(t.Context(), rt, wasm, runtime.PluginOptions{})
				if err != nil {
					t.Fatal(err)
				}
				r := &turned{t: t, rt: rt, wasm: wasm, loaded: make(map[string]*runtime.Plugin),
					answers: make(map[string]*abi.Output)}
				r.fixture(dir, p.Manifest())
				if !strings.Contains(compactDemo(t, home, "--plugin", wasm, "--adopt", "tried"), signs[role]) {
					t.Errorf("it does not change a compaction: no %s", signs[role])
				}
				if !whole {
					return
				}
				abitest.Run(t, p.Manifest(), r)
				cutShort(t, p, read(t, filepath.Join(dir, "fixtures", "input.json")))
				runOwnTests(t, lang, dir)
				if first == nil {
					first = r.answers
				}
				if len(r.answers) < 20 || !reflect.DeepEqual(r.answers, first) {
					for in, out := range r.answers {
						if !reflect.DeepEqual(out, first[in]) {
							t.Fatalf("to %.300s\nit says  %+v\nin %s %+v", in, out, kit.Langs[0], first[in])
						}
					}
				}
			})
		}
	}
}

// fixture holds the plugin to the answer that lies beside it.
func (r *turned) fixture(dir string, m *abi.Manifest) {
	r.t.Helper()
	var in abi.Input
	var want abi.Output
	if err := json.Unmarshal(read(r.t, filepath.Join(dir, "fixtures", "input.json")), &in); err != nil {
		r.t.Fatal(err)
	}
	if err := json.Unmarshal(read(r.t, filepath.Join(dir, "fixtures", "output.json")), &want); err != nil {
		r.t.Fatal(err)
	}
	in.Config, _ = m.Configure(nil)
	if out, _, err := r.Call(r.t.Context(), &in); err != nil || !reflect.DeepEqual(out, &want) {
		r.t.Errorf("to the fixture it says %+v, %v", out, err)
	}
}

// cutShort: a document that breaks off is an answer or an error, and no crash.
func cutShort(t *testing.T, p *runtime.Plugin, doc []byte) {
	t.Helper()
	for n := 0; n < len(doc); n += 501 {
		if _, _, err := p.CallRaw(t.Context(), string(abi.HookPreCompact), doc[:n]); err != nil &&
			abi.CodeOf(err) != abi.CodeExit {
			t.Errorf("the first %d bytes of a document: %v", n, err)
		}
	}
}

// signs are what a new plugin of a role changes in the compaction of the demo:
// the rule of a person that stays, and the heading of the summary.
var signs = map[string]string{"observer": `"id":"msg_121","role":"user"`,
	"compactor": "What was asked and answered, oldest first:"}

// compactDemo returns the demo's session compacted.
func compactDemo(t *testing.T, home string, flags ...string) string {
	t.Helper()
	demo := filepath.Join(shared.Root(t), "testdata", "demo.jsonl")
	return commandAt(t, home, append([]string{"compact", demo, "--window", "32000", "-q"}, flags...)...)
}

// ownTests are the tests that come with a new plugin.
var ownTests = map[string]string{"go": "go test ./...", "ts": "npm test", "c": "make test"}

// alone gives a folder a configuration of its own: none above it is looked for.
func alone(t *testing.T, dir string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "kagewasm.yaml"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
}

// runOwnTests runs them, without a network.
func runOwnTests(t *testing.T, lang, dir string) {
	t.Helper()
	alone(t, dir)
	args := strings.Fields(ownTests[lang])
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=", "STATE_HOME="+t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", ownTests[lang], err, out)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
