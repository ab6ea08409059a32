package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/abi/abitest"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/internal/compilers"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"github.com/kagewasm/kagewasm/internal/pluginyaml"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/internal/strictjson"
	"github.com/kagewasm/kagewasm/kit"
	"github.com/kagewasm/kagewasm/runtime"
	"github.com/kagewasm/kagewasm/store/kv"
)

// guide is docs/authors.md.
func guide(t *testing.T) string {
	t.Helper()
	return string(read(t, filepath.Join(shared.Root(t), "docs", "authors.md")))
}

// blocks are the fenced blocks of the guide that are opened with these words.
func blocks(t *testing.T, info string) (list []string) {
	t.Helper()
	for _, m := range regexp.MustCompile("(?ms)^```"+info+"\n(.*?)^```$").FindAllStringSubmatch(guide(t), -1) {
		list = append(list, m[1])
	}
	if len(list) == 0 {
		t.Fatalf("docs/authors.md has no block ```%s", info)
	}
	return list
}

// rows are the rows of the guide's table whose first heading this is.
func rows(t *testing.T, heading string) (list [][]string) {
	t.Helper()
	_, table, found := strings.Cut(guide(t), "\n| "+heading+" |")
	if !found {
		t.Fatalf("docs/authors.md has no table of %s", heading)
	}
	table, _, _ = strings.Cut(table, "\n\n")
	for _, line := range strings.Split(table, "\n")[2:] {
		var cells []string
		for _, cell := range strings.Split(strings.Trim(line, "|"), "|") {
			cells = append(cells, strings.TrimSpace(cell))
		}
		list = append(list, cells)
	}
	return list
}

// code are the texts in a cell that are set as code.
func code(cell string) (list []string) {
	for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cell, -1) {
		list = append(list, m[1])
	}
	return list
}

// TestAuthorsCommands: the commands from nothing to a changed compaction are
// fewer than five, are those that kagewasm new names, and work as written.
func TestAuthorsCommands(t *testing.T) {
	features.Proves(t, "N6")
	for _, lang := range kit.Langs {
		t.Run(lang, func(t *testing.T) {
			lines := strings.Split(strings.TrimSpace(blocks(t, "sh "+lang)[0]), "\n")
			if len(lines) >= 5 {
				t.Errorf("%d commands", len(lines))
			}
			if readme := string(read(t, filepath.Join(shared.Root(t), "README.md"))); lang == "go" &&
				!strings.Contains(readme, "```sh\n"+strings.Join(lines, "\n")+"\n```") {
				t.Error("README shows other commands")
			}
			if lang == "go" {
				soak.Only(t, "compiles what Go builds")
			}
			dir := t.TempDir()
			alone(t, dir)
			var said, last string
			for _, line := range lines {
				last = follow(t, lang, dir, line)
				said += last
			}
			if next := "next:\n  " + strings.Join(lines[1:], "\n  ") + "\n"; !strings.Contains(said, next) {
				t.Errorf("kagewasm new does not say\n%s but\n%s", next, said)
			}
			for _, sign := range []string{"hooks       mine             pre_compact  ok",
				"retained    mine: Good. The invoice must round once", "4 of them pinned"} {
				t.Run(sign, func(t *testing.T) {
					if !strings.Contains(last, sign) {
						t.Errorf("the report does not say %q:\n%s", sign, last)
					}
				})
			}
		})
	}
}

// follow runs a command line of the guide. Packages come from where tests have
// them, and not from the network.
func follow(t *testing.T, lang, dir, line string) string {
	t.Helper()
	if strings.HasPrefix(line, "npm ci") {
		compilers.Prepare(t, lang, filepath.Join(dir, "mine"))
		return ""
	}
	if lang == "c" && strings.HasPrefix(line, "kagewasm build") {
		compilers.Prepare(t, lang, filepath.Join(dir, "mine"))
	}
	args := strings.Fields(line)
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "STATE_HOME="+filepath.Join(dir, "state"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return string(out)
}

// TestAuthorsCode: the plugin that the guide shows in each language does what
// it says.
func TestAuthorsCode(t *testing.T) {
	features.Proves(t, "N6")
	soak.Only(t, "builds a plugin in each language")
	files := map[string]string{"go": "main.go", "ts": "assembly/plugin.ts", "c": "plugin.c"}
	for _, lang := range kit.Langs {
		t.Run(lang, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "count")
			command(t, "new", "count", "--lang", lang, "--dir", dir)
			compilers.Prepare(t, lang, dir)
			manifest := string(read(t, filepath.Join(dir, "plugin.yaml"))) + "capabilities: {kv: {reason: to count}}\n"
			if !strings.Contains(guide(t), "`capabilities: {kv: {reason: to count}}`") {
				t.Error("the guide does not say what the manifest needs")
			}
			for file, text := range map[string]string{files[lang]: blocks(t, lang)[0], "plugin.yaml": manifest} {
				t.Run(file, func(t *testing.T) {
					if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
						t.Fatal(err)
					}
				})
			}
			command(t, "build", dir, "-o", dir)
			kv := &busy{Memory: kv.NewMemory(kv.Options{})}
			rt, err := runtime.New(t.Context(), runtime.Options{KV: kv, Interpreter: true})
			if err != nil {
				t.Fatal(err)
			}
			defer rt.Close(t.Context())
			p, err := plugintest.LoadFile(t.Context(), rt, filepath.Join(dir, "count.wasm"),
				runtime.PluginOptions{Grants: runtime.Grants{KV: true}, Limits: abi.Limits{TimeoutMS: 60_000}})
			if err != nil {
				t.Fatal(err)
			}
			in := abitest.NewInput(p.Manifest(), nil, 0)
			for n := 1; n <= 12; n++ {
				want := fmt.Sprintf("Compaction number %d.", n)
				if out, _, err := p.Call(t.Context(), in); err != nil || out == nil || out.Inject != want {
					t.Fatalf("call %d: %+v, %v", n, out, err)
				}
			}
			kv.between = "41"
			if out, _, err := p.Call(t.Context(), in); err != nil || out == nil || out.Inject != "Compaction number 42." {
				t.Errorf("another session counted between reading and writing: %+v, %v", out, err)
			}
			in.Trigger.DryRun = true
			if _, stats, err := p.Call(t.Context(), in); err != nil || stats.HostCalls[abi.OpKVSet] > 0 {
				t.Errorf("a dry run: %+v, %v", stats.HostCalls, err)
			}
		})
	}
}

// busy is a storage in which another session stores a count, once, right after
// this one has read it.
type busy struct {
	*kv.Memory
	between string
}

func (b *busy) Get(ctx context.Context, ns, key string) (string, bool, error) {
	value, found, err := b.Memory.Get(ctx, ns, key)
	if key == "count" && b.between != "" && err == nil {
		err, b.between = b.Set(ctx, ns, key, b.between), ""
	}
	return value, found, err
}

// TestAuthorsDocuments: the documents of the guide are what they are said to
// be, and its tables have all there is.
func TestAuthorsDocuments(t *testing.T) {
	features.Proves(t, "N6")
	for _, doc := range blocks(t, "json input") {
		if err := strictjson.Decode([]byte(doc), new(abi.Input)); err != nil {
			t.Errorf("%v in %s", err, doc)
		}
	}
	for _, doc := range blocks(t, "json output") {
		if warnings, err := runtime.CheckOutput([]byte(doc)); err != nil || len(warnings) > 0 {
			t.Errorf("%v, %v in %s", warnings, err, doc)
		}
	}
	if _, err := pluginyaml.Parse("authors.md", []byte(blocks(t, "yaml manifest")[0])); err != nil {
		t.Error(err)
	}
	for section, document := range map[string]any{"The manifest": abi.Manifest{}, "Hooks": abi.Output{}} {
		t.Run(section, func(t *testing.T) {
			_, text, _ := strings.Cut(guide(t), "\n## "+section+"\n")
			text, _, _ = strings.Cut(text, "\n## ")
			for name := range fields(reflect.TypeOf(document)) {
				if !strings.Contains(text, "`"+name+"`") && !strings.Contains(text, `"`+name+`":`) {
					t.Errorf("%s does not say %s", section, name)
				}
			}
		})
	}
	for _, c := range abi.Capabilities {
		if !strings.Contains(guide(t), "\n| `"+string(c)+"` |") {
			t.Errorf("no capability %s", c)
		}
	}
	documented := make(map[string]string)
	for _, row := range rows(t, "limit") {
		documented[code(row[0])[0]] = row[1]
	}
	for name, value := range abi.DefaultLimits().All() {
		if documented[name] != ui.Number(int64(value)) {
			t.Errorf("limit %s is %s, not %q", name, ui.Number(int64(value)), documented[name])
		}
	}
}

// requests are the documents of each host call.
var requests = map[abi.Op][2]any{
	abi.OpLog: {new(abi.LogRequest), nil}, abi.OpKVGet: {new(abi.KVRequest), new(abi.KVResponse)},
	abi.OpKVSet: {new(abi.KVRequest), nil}, abi.OpKVDelete: {new(abi.KVRequest), nil},
	abi.OpKVList: {new(abi.KVRequest), new(abi.KVResponse)}, abi.OpTokensCount: {new(abi.TokensRequest),
		new(abi.TokensResponse)},
	abi.OpMessagesGet: {new(abi.MessagesRequest),
		new(abi.MessagesResponse)}, abi.OpRequestCompact: {new(abi.CompactionRequest), nil},
	abi.OpMessagesSearch: {new(abi.SearchRequest), new(abi.SearchResponse)},
	abi.OpHTTP:           {new(abi.HTTPRequest), new(abi.HTTPResponse)}, abi.OpModelComplete: {new(abi.ModelRequest),
		new(abi.ModelResponse)},
}

// TestAuthorsHostCalls: every host call stands in the guide, with documents
// that it takes and gives, and with all of their fields.
func TestAuthorsHostCalls(t *testing.T) {
	features.Proves(t, "N6")
	source := string(read(t, filepath.Join(shared.Root(t), "abi", "hostcall.go")))
	known := regexp.MustCompile(`Op = "([^"]+)"`).FindAllStringSubmatch(source, -1)
	table := rows(t, "call")
	shown := make(map[reflect.Type]string) // documents, by what they are
	if len(known) != len(table) || len(known) != len(requests) {
		t.Errorf("%d host calls, %d in the guide", len(known), len(table))
	}
	for _, row := range table {
		types, ok := requests[abi.Op(code(row[0])[0])]
		if !ok {
			t.Errorf("no host call %s", row[0])
			continue
		}
		for i, v := range types {
			if v == nil {
				continue
			}
			doc := strings.ReplaceAll(code(row[i+1])[0], "[…]", "[]")
			if err := strictjson.Decode([]byte(doc), v); err != nil || !json.Valid([]byte(doc)) {
				t.Errorf("%s: %v in %s", row[0], err, doc)
			}
			shown[reflect.TypeOf(v).Elem()] += doc
		}
	}
	_, section, _ := strings.Cut(guide(t), "\n## Host calls\n")
	section, _, _ = strings.Cut(section, "\n```")
	for typ, docs := range shown {
		for name := range fields(typ) {
			if !strings.Contains(docs, `"`+name+`":`) && !strings.Contains(section, "`"+name+"`") {
				t.Errorf("Host calls does not say %s of %s", name, typ.Name())
			}
		}
	}
}

// fields are the names that the fields of a document have.
func fields(typ reflect.Type) iter.Seq[string] {
	return func(yield func(string) bool) {
		for field := range typ.Fields() {
			if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); !yield(name) {
				return
			}
		}
	}
}

// TestAuthorsRefusals: what the guide quotes of errors and signatures is what
// the source says.
func TestAuthorsRefusals(t *testing.T) {
	features.Proves(t, "N6")
	source := goSource(t, "abi", "runtime", "firewall", "kit", "strategies", "attempt.go")
	for _, row := range rows(t, "it says") {
		for _, part := range strings.Split(code(row[0])[0], "…") {
			if part = strings.TrimSpace(part); len(part) > 1 && !strings.Contains(source, part) {
				t.Errorf("nothing says %q", part)
			}
		}
	}
	for _, row := range rows(t, "import") {
		if entry := fmt.Sprintf("{%q, %q,", code(row[0])[0], code(row[1])[0]); !strings.Contains(source, entry) {
			t.Errorf("no import %s", entry)
		}
	}
}

// goSource is the text of all Go files of folders of the project, but for tests.
func goSource(t *testing.T, folders ...string) string {
	t.Helper()
	var text strings.Builder
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join(shared.Root(t), folder), func(path string, _ fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
				text.Write(read(t, path))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return text.String()
}
