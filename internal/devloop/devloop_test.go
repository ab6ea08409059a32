package devloop_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/devloop"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/internal/survey"
	"github.com/kagewasm/kagewasm/runtime"
	"github.com/kagewasm/kagewasm/tokens"
)

// author is somebody who writes a plugin in a folder of their own, a copy of
// kit/testdata/notes1 in a module of its own.
type author struct {
	t    *testing.T
	dir  string
	opts devloop.Options
}

func newAuthor(t *testing.T) *author {
	t.Helper()
	a := &author{t: t, dir: t.TempDir()}
	root := shared.Root(t)
	for _, name := range []string{"main.go", "plugin.yaml"} {
		a.write(name, a.read(filepath.Join(root, "kit", "testdata", "notes1", name)))
	}
	a.write("go.mod", "module example.com/notes\n\ngo 1.26.0\n\nrequire github.com/kagewasm/kagewasm "+
		"v0.0.0\n\nreplace github.com/kagewasm/kagewasm => "+root+"\n")
	r, err := runtime.New(t.Context(), runtime.Options{KV: survey.KV(nil), Counter: counter(),
		CacheDir: plugintest.CacheDir(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(context.Background()) })
	a.opts = devloop.Options{Dir: a.dir, Survey: survey.Options{Counter: counter()},
		Load: func(ctx context.Context, path string) (*runtime.Plugin, error) {
			return plugintest.LoadFile(ctx, r, path, runtime.PluginOptions{Grants: runtime.Grants{KV: true},
				Limits: abi.Limits{TimeoutMS: 120_000}})
		}}
	return a
}

// counter is one for all tests.
var counter = sync.OnceValue(func() *tokens.Counter {
	c, err := tokens.New(tokens.O200k, tokens.Options{})
	if err != nil {
		panic(err)
	}
	return c
})

func (a *author) read(path string) string {
	a.t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		a.t.Fatal(err)
	}
	return string(data)
}

// write puts a file in its place whole, as editors do.
func (a *author) write(name, text string) {
	a.t.Helper()
	path := filepath.Join(a.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		a.t.Fatal(err)
	}
	if err := os.WriteFile(path+".tmp", []byte(text), 0o644); err != nil {
		a.t.Fatal(err)
	}
	if err := os.Rename(path+".tmp", path); err != nil {
		a.t.Fatal(err)
	}
}

// edit saves a file, with what editors leave beside it.
func (a *author) edit(name, old, new string) {
	a.t.Helper()
	text := a.read(filepath.Join(a.dir, name))
	if !strings.Contains(text, old) {
		a.t.Fatalf("%s does not say %q", name, old)
	}
	a.write("."+name+".swp", "what an editor keeps")
	a.write(name+"~", text)
	a.write(name, strings.ReplaceAll(text, old, new))
}

// watch runs the loop until the test ends. The function it returns waits for
// the next round.
func (a *author) watch() (next func() *devloop.Round) {
	a.t.Helper()
	rounds, ended := make(chan *devloop.Round), make(chan error, 1)
	ctx, cancel := context.WithCancel(a.t.Context())
	go func() {
		ended <- devloop.Run(ctx, a.opts, func(r *devloop.Round) {
			select {
			case rounds <- r:
			case <-ctx.Done():
			}
		})
	}()
	a.t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			a.t.Errorf("who interrupts the loop ends it: %v", err)
		}
	})
	number := 0
	return func() *devloop.Round {
		a.t.Helper()
		select {
		case r := <-rounds:
			if number++; r.Number != number {
				a.t.Errorf("round %d, want %d", r.Number, number)
			}
			return r
		case err := <-ended:
			a.t.Fatalf("the loop ended: %v", err)
		case <-time.After(3 * time.Minute):
			a.t.Fatal("no round")
		}
		return nil
	}
}

// steps is a session of n steps, one message a line.
func steps(n int) string {
	var b strings.Builder
	line := func(id, role, text string) {
		doc, _ := json.Marshal(map[string]string{"id": id, "role": role, "content": text}) // of texts
		b.Write(append(doc, '\n'))
	}
	line("goal", "user", "make it work")
	for i := range n {
		line(fmt.Sprint("a", i), "assistant", strings.Repeat(fmt.Sprintf("step %d was done as it was asked. ", i), 20))
		line(fmt.Sprint("u", i), "user", "and the next one?")
	}
	return b.String()
}

// TestDevLoop: the loop of an author. Each save makes one round, which says
// what is different from the last good one; what does not build, or is refused,
// leaves that as it was.
func TestDevLoop(t *testing.T) {
	features.Proves(t, "N6")
	soak.Only(t, "builds a plugin in Go again and again")
	a := newAuthor(t)
	a.write("sessions/one.jsonl", steps(20))
	next := a.watch()

	r := next()
	if r.Error != nil || r.Survey.Totals.Compacted != 1 || r.Samples || r.Change != nil || len(r.Changed) > 0 {
		t.Fatalf("%+v, %v", r, r.Error)
	}
	if got := r.Survey.Sessions[0].Injected; !slices.Equal(got, []string{"keep to the plan"}) {
		t.Errorf("injected %q", got)
	}
	good := r.Plugin.Digest

	a.edit("main.go", "keep to the plan", "leave the plan")
	r = next()
	if r.Error != nil || !slices.Equal(r.Changed, []string{"main.go"}) || r.Plugin.Digest == good || r.BuildMS == 0 {
		t.Fatalf("%+v, %v", r, r.Error)
	}
	d := r.Change.Of(r.Survey.Sessions[0].Session)
	if d == nil || d.Injected == nil || d.Injected.Old[0] != "keep to the plan" || d.Injected.New[0] != "leave the plan" {
		t.Errorf("%+v", d)
	}

	a.edit("main.go", "return out, nil", "return out, nothing")
	if r = next(); r.Survey != nil || abi.CodeOf(r.Error) != abi.CodeBadInput ||
		!strings.Contains(r.Error.Message, "undefined: nothing") {
		t.Fatalf("does not compile: %+v, %v", r.Survey, r.Error)
	}
	a.edit("plugin.yaml", "roles: [observer]", "roles: [spectator]")
	if r = next(); r.Survey != nil || r.Error == nil || !strings.Contains(r.Error.Error(), "spectator") {
		t.Fatalf("a wrong manifest: %+v, %v", r.Survey, r.Error)
	}
	a.edit("plugin.yaml", "roles: [spectator]", "roles: [observer]")
	if r = next(); r.Error == nil {
		t.Fatal("what did not compile is not fixed yet")
	}
	a.edit("main.go", "return out, nothing", "return out, nil")
	if r = next(); r.Error != nil || r.Change.Differs() || r.Update != nil {
		t.Fatalf("fixed, it is the last good one: %+v, %v", r.Change, r.Error)
	}

	// A manifest that asks for more says so, and what it is not given.
	a.edit("plugin.yaml", "version: 1.0.0", "version: 1.1.0\ncapabilities: {model: {reason: to write}}")
	if r = next(); r.Error != nil || r.Change.Differs() || len(r.Update.Permissions) != 1 ||
		!slices.Equal(r.Withheld, []string{"model"}) {
		t.Fatalf("%+v, %v, %v", r.Update, r.Withheld, r.Error)
	}

	// Sessions come and change without a build.
	a.write("sessions/below/two.jsonl", steps(30))
	if r = next(); r.Error != nil || r.BuildMS != 0 || len(r.Change.Came) != 1 ||
		!slices.Equal(r.Changed, []string{"sessions/below/two.jsonl"}) {
		t.Fatalf("%+v, %v", r, r.Error)
	}
	a.write("sessions/one.jsonl", steps(25))
	if r = next(); r.Error != nil || r.BuildMS != 0 || len(r.Change.Sessions) != 1 || r.Change.Same != 1 {
		t.Fatalf("%+v, %v", r.Change, r.Error)
	}
	if err := os.RemoveAll(filepath.Join(a.dir, "sessions", "below")); err != nil {
		t.Fatal(err)
	}
	if r = next(); r.Error != nil || len(r.Change.Went) != 1 {
		t.Fatalf("%+v, %v", r.Change, r.Error)
	}
}

// TestDevNewRole: a plugin that becomes a compactor takes the place of the
// observer it was.
func TestDevNewRole(t *testing.T) {
	soak.Only(t, "builds a plugin three times")
	features.Proves(t, "N6")
	a := newAuthor(t)
	a.write("sessions/one.jsonl", steps(20))
	next := a.watch()
	if r := next(); r.Error != nil {
		t.Fatal(r.Error)
	}
	a.edit("main.go", `&abi.Output{Inject: "keep to the plan"}`, `&abi.Output{Summary: "steps were done"}`)
	next()
	a.edit("plugin.yaml", "roles: [observer]", "roles: [compactor]")
	r := next()
	if r.Error != nil || r.Survey.Sessions[0].Report.Strategy != "delegate" ||
		!strings.Contains(r.Survey.Sessions[0].Report.Summary, "steps were done") {
		t.Errorf("%+v, %v", r.Survey, r.Error)
	}
}

// TestDevOnlyChanges: what an editor or a build leaves, and a file that is
// written again as it was, make no round.
func TestDevOnlyChanges(t *testing.T) {
	features.Proves(t, "N6")
	a := newAuthor(t)
	a.write("sessions/one.jsonl", steps(20))
	next := a.watch()
	if r := next(); r.Error != nil {
		t.Fatal(r.Error)
	}
	for _, name := range []string{".git/index", "node_modules/x/index.js", "target/notes.rs", "notes.wasm", "#main.go#",
		"main.go~", "4913", ".main.go.swp"} {
		a.write(name, "new")
	}
	a.write("main.go", a.read(filepath.Join(a.dir, "main.go")))
	a.write("new/notes.txt", "a real change")
	if r := next(); r.Error != nil || !slices.Equal(r.Changed, []string{"new/notes.txt"}) || r.Change.Differs() {
		t.Errorf("%v, %+v, %v", r.Changed, r.Change, r.Error)
	}
}

func TestDevOnce(t *testing.T) {
	features.Proves(t, "N6")
	a := newAuthor(t)
	a.opts.Out = filepath.Join(t.TempDir(), "notes.wasm")
	samples := soak.Count(0, 1, 1) == 1 // they take seconds
	if !samples {
		a.write("sessions/one.jsonl", steps(20))
	}
	r, err := devloop.Once(t.Context(), a.opts)
	if err != nil || r.Error != nil || r.Samples != samples || r.Survey.Totals.Compacted != r.Survey.Totals.Sessions {
		t.Fatalf("%+v, %v", r, err)
	}
	if _, err := os.Stat(a.opts.Out); err != nil || r.Plugin.Path != a.opts.Out {
		t.Errorf("%s: %v", r.Plugin.Path, err)
	}
	none := t.TempDir()
	for why, o := range map[string]devloop.Options{
		"no folder":       {Dir: filepath.Join(a.dir, "nowhere"), Load: a.opts.Load},
		"no such session": {Dir: a.dir, Sessions: []string{filepath.Join(none, "x.jsonl")}, Load: a.opts.Load},
	} {
		t.Run(why, func(t *testing.T) {
			if _, err := devloop.Once(t.Context(), o); abi.CodeOf(err) != abi.CodeUsage {
				t.Errorf("%s: %v", why, err)
			}
		})
	}
	a.opts.Sessions = []string{none}
	if r, err := devloop.Once(t.Context(), a.opts); err != nil || abi.CodeOf(r.Error) != abi.CodeUsage || r.Survey != nil {
		t.Errorf("an empty folder: %+v, %v", r.Error, err)
	}
}

// TestDevPackagesBeside: a change in a package that lies elsewhere is one of
// the plugin, where it is built of it.
func TestDevPackagesBeside(t *testing.T) {
	soak.Only(t, "builds a plugin twice, and lists what it is built of")
	features.Proves(t, "N6")
	a := newAuthor(t)
	main := a.read(filepath.Join(a.dir, "main.go"))
	main = strings.Replace(main, `"keep to the plan"`, "words.Plan", 1)
	main = strings.Replace(main, "import (", "import (\n\t\"example.com/notes/words\"", 1)
	a.write("plugin/main.go", main)
	a.write("plugin/plugin.yaml", a.read(filepath.Join(a.dir, "plugin.yaml")))
	a.write("plugin/sessions/one.jsonl", steps(20))
	a.write("words/words.go", "package words\n\nconst Plan = \"keep to the plan\"\n")
	a.opts.Dir = filepath.Join(a.dir, "plugin")
	next := a.watch()
	if r := next(); r.Error != nil {
		t.Fatal(r.Error)
	}
	a.write("words/words_test.go", "package words\n")
	a.write("other/other.go", "package other\n")
	a.edit("words/words.go", "keep to the plan", "forget the plan")
	r := next()
	if r.Error != nil || len(r.Changed) != 1 || filepath.Base(r.Changed[0]) != "words.go" {
		t.Fatalf("%v, %v", r.Changed, r.Error)
	}
	if got := r.Survey.Sessions[0].Injected; !slices.Equal(got, []string{"forget the plan"}) {
		t.Errorf("injected %q", got)
	}
}

// TestDevNamedFiles: a session that is named by its file is watched, and what
// lies beside it is not.
func TestDevNamedFiles(t *testing.T) {
	features.Proves(t, "N6")
	a := newAuthor(t)
	elsewhere := &author{t: t, dir: t.TempDir()}
	elsewhere.write("one.jsonl", steps(20))
	a.opts.Sessions = []string{filepath.Join(elsewhere.dir, "one.jsonl")}
	next := a.watch()
	if r := next(); r.Error != nil || r.Survey.Totals.Sessions != 1 {
		t.Fatalf("%+v, %v", r.Survey, r.Error)
	}
	elsewhere.write("two.jsonl", steps(20))
	elsewhere.write("below/three.jsonl", steps(20))
	elsewhere.write("one.jsonl", steps(30))
	r := next()
	if r.Error != nil || r.BuildMS != 0 || len(r.Changed) != 1 || filepath.Base(r.Changed[0]) != "one.jsonl" ||
		len(r.Change.Sessions) != 1 {
		t.Fatalf("%v, %+v, %v", r.Changed, r.Change, r.Error)
	}
}
