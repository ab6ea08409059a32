// Package plugins_test runs the reference plugins as modules: what their own
// packages test natively, in the sandbox.
package plugins_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/abi/abitest"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"github.com/kagewasm/kagewasm/internal/pluginyaml"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/runtime"
	"github.com/kagewasm/kagewasm/runtime/extism"
	"github.com/kagewasm/kagewasm/store/kv"
)

// names are the plugins, each a folder.
var names = []string{"hindsight", "keeper", "markdown"}

func TestMain(m *testing.M) {
	killMain()
	os.Exit(m.Run())
}

// byLength counts a token for every 4 bytes, as abitest does.
type byLength struct{}

func (byLength) Text(s string) int            { return (len(s) + 3) / 4 }
func (c byLength) Message(m *abi.Message) int { return 4 + c.Text(m.Text()) }

// load builds and loads a plugin, with everything it asks for granted, and the
// origins of po.
func load(t testing.TB, name string, ro runtime.Options, po runtime.PluginOptions) *runtime.Plugin {
	t.Helper()
	m, err := runtime.OpenFile(plugintest.GuestFile(t, "plugins/"+name), pluginyaml.Parse)
	if err != nil {
		t.Fatal(err)
	}
	ro.Counter, ro.CacheDir = byLength{}, plugintest.CacheDir(t)
	r, err := runtime.New(t.Context(), ro)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(context.Background()) })
	origins := po.Grants.HTTP
	po.Grants = plugintest.GrantAll(m.Manifest())
	po.Grants.HTTP = append(po.Grants.HTTP, origins...)
	p, err := r.Load(t.Context(), m, po)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// configured calls a plugin as if an operator had set the knobs that the input
// says: the runtime takes them from its options alone.
type configured struct {
	t      *testing.T
	name   string
	engine runtime.Engine
	kv     abi.KV
	loaded map[string]*runtime.Plugin
}

func newConfigured(t *testing.T, name string, engine runtime.Engine) *configured {
	return &configured{t: t, name: name, engine: engine, kv: kv.NewMemory(kv.Options{}),
		loaded: make(map[string]*runtime.Plugin)}
}

func (c *configured) Call(ctx context.Context, in *abi.Input) (*abi.Output, abi.CallStats, error) {
	key, err := json.Marshal(in.Config)
	if err != nil {
		return nil, abi.CallStats{}, err
	}
	if c.loaded[string(key)] == nil {
		c.loaded[string(key)] = load(c.t, c.name, runtime.Options{KV: c.kv}, runtime.PluginOptions{
			Config: in.Config, Engine: c.engine, Limits: abi.Limits{TimeoutMS: 120_000}, // upstream's engine is slow
		})
	}
	return c.loaded[string(key)].Call(ctx, in)
}

// both calls a plugin on both engines, each with storage of its own, and keeps
// to what the native one answers. Upstream's compiles the plugin for each
// setting of its knobs, which takes long: it is called with the default alone.
type both struct {
	t                *testing.T
	native, upstream *configured
	defaults         abi.Config
}

func (b both) Call(ctx context.Context, in *abi.Input) (*abi.Output, abi.CallStats, error) {
	out, stats, err := b.native.Call(ctx, in)
	if !reflect.DeepEqual(in.Config, b.defaults) {
		return out, stats, err
	}
	otherOut, otherStats, otherErr := b.upstream.Call(ctx, in)
	seen := func(out *abi.Output, stats abi.CallStats, err error) string {
		doc, _ := json.Marshal([]any{out, abi.CodeOf(err), fmt.Sprint(err), stats.Logs, stats.Warnings, stats.HostCalls,
			stats.HostCallBytes})
		return string(doc)
	}
	if a, b2 := seen(out, stats, err), seen(otherOut, otherStats, otherErr); a != b2 {
		b.t.Errorf("%s on %d messages: native %.400s\nextism %.400s", in.Hook, len(in.Messages), a, b2)
	}
	return out, stats, err
}

// TestConformance: the plugins keep the rules of a plugin on either engine, and
// give the same answer to the calls that the rules make. Upstream's engine takes
// several times as long: `make test` leaves it out, as the tests of runtime/extism
// compare the engines by smaller plugins. Of the plugins it takes one: the tests
// of each hold its logic to the rules natively.
func TestConformance(t *testing.T) {
	compared := soak.Sample(names, 0, len(names))
	for _, n := range soak.Sample([]string{"keeper", "hindsight", "markdown"}, 1, len(names)) {
		t.Run(n, func(t *testing.T) {
			m := load(t, n, runtime.Options{}, runtime.PluginOptions{}).Manifest()
			native := newConfigured(t, n, nil)
			if !slices.Contains(compared, n) {
				abitest.Run(t, m, native)
				return
			}
			b := both{t, native, newConfigured(t, n, extism.Engine{}), abitest.NewInput(m, nil, 0).Config}
			abitest.Run(t, m, b)
			if len(b.upstream.loaded) != 1 {
				t.Errorf("upstream's engine was called with %d settings", len(b.upstream.loaded))
			}
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
	sessions := shared.Sessions(t)
	for _, n := range names {
		p := load(t, n, runtime.Options{KV: kv.NewMemory(kv.Options{})}, runtime.PluginOptions{})
		for _, path := range soak.Sample(sessions, 4, len(sessions)) {
			in := abitest.NewInput(p.Manifest(), readSession(t, path), 0)
			out, _, err := p.Call(t.Context(), in)
			if err == nil && out != nil {
				err = abitest.CheckOutput(p.Manifest(), in, out)
			}
			if err != nil {
				t.Errorf("%s: %s: %v", n, filepath.Base(path), err)
			}
		}
	}
}

// agentSession is a session of an agent at work, of about so many bytes.
func agentSession(size int) []abi.Message {
	msgs := []abi.Message{{Role: abi.RoleUser, Content: abi.Text("Port everything to the new store.")}}
	for i := 0; size > 0; i++ {
		id := fmt.Sprint("call", i)
		args := fmt.Sprintf(`{"path":"internal/part%d/file.go","old":"a","new":"b"}`, i)
		text := strings.Repeat(fmt.Sprintf("line %d: \tif err != nil { return \"%d\" }\n", i, i), 100)
		msgs = append(msgs,
			abi.Message{Role: abi.RoleUser,
				Content: abi.Text(fmt.Sprintf("We decided to keep part %d as it is. Is it done?", i))},
			abi.Message{Role: abi.RoleAssistant,
				Content:   abi.Text(fmt.Sprintf("The root cause in part %d is a missing lock.", i)),
				ToolCalls: []abi.ToolCall{{ID: id, Name: "edit", Arguments: args}}},
			abi.Message{Role: abi.RoleTool, ToolCallID: id, Content: abi.Text(text)})
		size -= len(text) + len(args) + 300
	}
	return msgs
}

// TestLargeSessions: sessions of 1 MB and of 4 MB (a million tokens) are
// answered within the default limits of a call.
func TestLargeSessions(t *testing.T) {
	for _, n := range names {
		for _, size := range soak.Sample([]int{1 << 20, 4 << 20}, 1, 2) {
			t.Run(fmt.Sprintf("%s with %d bytes", n, size), func(t *testing.T) {
				p := load(t, n, runtime.Options{KV: kv.NewMemory(kv.Options{})}, runtime.PluginOptions{})
				out, stats, err := p.Call(t.Context(), abitest.NewInput(p.Manifest(), agentSession(size), 0))
				if err != nil || out.IsZero() {
					t.Errorf("%s: %d bytes: %v", n, size, err)
				}
				t.Logf("%s: %d bytes in %.0f ms, %d MiB", n, stats.InputBytes, stats.MS, stats.PeakMemoryBytes>>20)
			})
		}
	}
}

// TestMarkdownFiles: what the markdown plugin remembers are files that a
// person can read, and edit.
func TestMarkdownFiles(t *testing.T) {
	features.Proves(t, "K28")
	dir := t.TempDir()
	kv, err := kv.Open(dir, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer kv.Close()
	p := load(t, "markdown", runtime.Options{KV: kv}, runtime.PluginOptions{})
	in := abitest.NewInput(p.Manifest(), agentSession(50_000), 0)
	out, _, err := p.Call(t.Context(), in)
	if err != nil || len(out.Retain) == 0 {
		t.Fatalf("%+v, %v", out, err)
	}
	notes, err := filepath.Glob(filepath.Join(dir, "markdown", "memory", "[a-z]*.md"))
	if err != nil || len(notes) != len(out.Retain) {
		t.Fatalf("%d files for %d facts, %v", len(notes), len(out.Retain), err)
	}
	for _, f := range []string{"MEMORY.md", "memory/2026-11-21.md"} {
		t.Run(f, func(t *testing.T) {
			if _, err := os.Stat(filepath.Join(dir, "markdown", f)); err != nil {
				t.Error(err)
			}
		})
	}
	const mine = "The store is called ostrich, says a person."
	if err := os.WriteFile(notes[0], []byte(mine), 0o600); err != nil {
		t.Fatal(err)
	}
	in.Messages[len(in.Messages)-3].Content = abi.Text("why is the store called ostrich?")
	if out, _, err = p.Call(t.Context(), in); err != nil || !strings.Contains(out.Inject, mine) {
		t.Errorf("the edited file is not recalled: %+v, %v", out, err)
	}
	if b, _ := os.ReadFile(notes[0]); string(b) != mine {
		t.Errorf("the edited file was overwritten: %s", b)
	}
}

// TestMarkdownSessionsAtOnce: sessions in processes of their own, which two
// handles are as good as, note at the same time and lose no line.
func TestMarkdownSessionsAtOnce(t *testing.T) {
	features.Proves(t, "K28")
	dir := t.TempDir()
	var wg sync.WaitGroup
	const sessions = 4
	for i := range sessions {
		kv, err := kv.Open(dir, kv.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer kv.Close()
		p := load(t, "markdown", runtime.Options{KV: kv}, runtime.PluginOptions{})
		in := abitest.NewInput(p.Manifest(), []abi.Message{
			{Role: abi.RoleUser, Content: abi.Text("start")},
			{Role: abi.RoleUser, Content: abi.Text(strings.Repeat(string(rune('a'+i)), 8) +
				" must never write to the vendor folder again.")},
			{Role: abi.RoleUser, Content: abi.Text("and now?")}}, 1)
		in.Session.ID, in.Budget = fmt.Sprint("s", i), abi.Budget{TargetTokens: 1, SummaryTokens: 500}
		wg.Go(func() {
			if out, _, err := p.Call(t.Context(), in); err != nil || len(out.Retain) != 1 {
				t.Errorf("%+v, %v", out, err)
			}
		})
	}
	wg.Wait()
	for _, f := range []string{"MEMORY.md", "memory/2026-11-21.md", "seen.txt"} {
		t.Run(f, func(t *testing.T) {
			b, err := os.ReadFile(filepath.Join(dir, "markdown", f))
			if err != nil {
				t.Fatal(err)
			}
			for i := range sessions {
				if name := strings.Repeat(string(rune('a'+i)), 8) + "-never-write"; strings.Count(string(b), name) != 1 {
					t.Errorf("%s names %s %d times:\n%s", f, name, strings.Count(string(b), name), b)
				}
			}
		})
	}
}
