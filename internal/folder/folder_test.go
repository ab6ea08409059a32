package folder_test

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/folder"
	"github.com/kagewasm/kagewasm/internal/lineage"
	"github.com/kagewasm/kagewasm/store/kv"
)

func openKV(t *testing.T) *kv.Folder {
	t.Helper()
	kv, err := kv.Open(t.TempDir(), kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { kv.Close() })
	return kv
}

// reader is any storage.
type reader interface {
	Get(ctx context.Context, ns, key string) (string, bool, error)
	List(ctx context.Context, ns, prefix string) ([]string, error)
}

func values(t *testing.T, kv reader) map[string]string {
	t.Helper()
	keys, err := kv.List(t.Context(), "p", "")
	if err != nil {
		t.Fatal(err)
	}
	m := make(map[string]string)
	for _, k := range keys {
		v, ok, err := kv.Get(t.Context(), "p", k)
		if err != nil || !ok {
			t.Fatalf("%s: %v, %v", k, ok, err)
		}
		m[k] = v
	}
	return m
}

func put(t *testing.T, kv *kv.Folder, m map[string]string) {
	t.Helper()
	if err := lineage.Offer(t.Context(), kv, "p"); err != nil {
		t.Fatal(err)
	}
	for k, v := range m {
		if err := kv.Set(t.Context(), "p", k, v); err != nil {
			t.Fatal(err)
		}
	}
}

func write(t *testing.T, dir string, m map[string]string) {
	t.Helper()
	for name, text := range m {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	m := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		b, err := os.ReadFile(path)
		m[filepath.ToSlash(name)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// odd are values that a careless copy loses: odd keys, odd bytes.
var odd = map[string]string{
	"MEMORY.md": "# Memory\r\n", "memory/x-1.md": "\ufeff---\n: [\n---\n", "empty.md": "", "facts": "no dot",
	"facts/a.md": "below it", "facts.kv": "the store's own ending",
	"Coffee brewing.md": "a space", "заметки/кэш.md": "Кэш на диске.", "%41.md": "a percent",
	"a%20b.md": "and one that escapes", "a b.md": "what that would be",
	".env": "hidden", "v1.2/x.md": "a dot in a folder", "what?.md": "a sign", "con:x.md": "another",
	strings.Repeat("k", 300) + ".md": "long", "memory/notes.json": `{"a":1}`, "tab/ x.md": "at an end",
}

func TestExportThenImport(t *testing.T) {
	features.Proves(t, "K28")
	from, to, dir := openKV(t), openKV(t), filepath.Join(t.TempDir(), "out")
	put(t, from, odd)
	r, err := folder.Export(t.Context(), from, "p", dir, folder.ExportOptions{})
	if err != nil || r.Count(folder.Added) != len(odd) {
		t.Fatalf("export: %+v, %v", r, err)
	}
	there := files(t, dir)
	for _, name := range []string{"MEMORY.md", "Coffee brewing.md", "заметки/кэш.md", "facts/a.md"} {
		t.Run(name, func(t *testing.T) {
			if there[name] != odd[name] {
				t.Errorf("%s says %q: %q", name, there[name], slices.Sorted(maps.Keys(there)))
			}
		})
	}
	if entries, _ := os.ReadDir(filepath.Dir(dir)); len(entries) != 1 {
		t.Errorf("something is left beside it: %v", entries)
	}
	if r, err = folder.Import(t.Context(), to, "p", dir, folder.ImportOptions{}); err != nil ||
		r.Count(folder.Added) != len(odd) {
		t.Fatalf("import: %+v, %v", r, err)
	}
	if got := values(t, to); !maps.Equal(got, odd) {
		t.Errorf("imported %q", got)
	}
	again := filepath.Join(t.TempDir(), "again")
	if _, err := folder.Export(t.Context(), to, "p", again, folder.ExportOptions{}); err != nil ||
		!maps.Equal(files(t, again), there) {
		t.Errorf("exported again: %v", err)
	}
	if r, err := folder.Import(t.Context(), to, "p", dir, folder.ImportOptions{}); err != nil ||
		r.Count(folder.Unchanged) != len(odd) {
		t.Errorf("imported again: %+v, %v", r, err)
	}
}

// TestExportWhere: into the folder that is meant, wherever it is, and what
// fails is said of that folder.
func TestExportWhere(t *testing.T) {
	features.Proves(t, "K28")
	kv, dir := openKV(t), t.TempDir()
	put(t, kv, map[string]string{"MEMORY.md": "mine"})
	export := func(to string) {
		t.Helper()
		_, err := folder.Export(t.Context(), kv, "p", to, folder.ExportOptions{})
		if err != nil || files(t, to)["MEMORY.md"] != "mine" {
			t.Errorf("%s: %v, %v", to, err, files(t, to))
		}
	}
	here, empty, link := filepath.Join(dir, "here"), filepath.Join(dir, "empty"), filepath.Join(dir, "link")
	for _, d := range []string{here, empty} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("empty", link); err != nil {
		t.Fatal(err)
	}
	t.Chdir(here)
	export(".")
	export(filepath.Join(dir, "no", "such", "out"))
	export(link + "/")
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 ||
		files(t, empty)["MEMORY.md"] != "mine" {
		t.Errorf("the link is %v, %v, and where it leads there is %v", info.Mode(), err, files(t, empty))
	}

	below, dangling := filepath.Join(here, "MEMORY.md", "out"), filepath.Join(dir, "dangling")
	if err := os.Symlink("nowhere", dangling); err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{below, dangling} {
		t.Run(filepath.Base(to), func(t *testing.T) {
			_, err := folder.Export(t.Context(), kv, "p", to, folder.ExportOptions{})
			if abi.CodeOf(err) != abi.CodeUsage || !strings.Contains(err.Error(), filepath.Base(to)) &&
				!strings.Contains(err.Error(), filepath.Dir(to)) {
				t.Errorf("%s: %v", to, err)
			}
		})
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 5 {
		t.Errorf("something is left beside them: %v", entries)
	}
}

func TestExportRefuses(t *testing.T) {
	features.Proves(t, "K28")
	kv, dir := openKV(t), t.TempDir()
	if _, err := folder.Export(t.Context(), kv, "p", filepath.Join(dir, "x"), folder.ExportOptions{}); abi.CodeOf(
		err) != abi.CodeUsage {
		t.Errorf("of nothing: %v", err)
	}
	put(t, kv, map[string]string{"MEMORY.md": "mine", "memory/a.md": "a"})
	if _, err := folder.Export(t.Context(), kv, "p", dir, folder.ExportOptions{}); err != nil {
		t.Errorf("into an empty folder: %v", err)
	}
	write(t, dir, map[string]string{"MEMORY.md": "edited", "README.md": "theirs"})
	if _, err := folder.Export(t.Context(), kv, "p", dir, folder.ExportOptions{}); abi.CodeOf(err) != abi.CodeUsage ||
		files(t, dir)["MEMORY.md"] != "edited" {
		t.Errorf("over files: %v", err)
	}
	if _, err := folder.Export(t.Context(), kv, "p", filepath.Join(dir, "README.md"),
		folder.ExportOptions{Force: true}); abi.CodeOf(err) != abi.CodeUsage {
		t.Errorf("over a file: %v", err)
	}
	r, err := folder.Export(t.Context(), kv, "p", dir, folder.ExportOptions{Force: true})
	want := map[string]string{"MEMORY.md": "mine", "memory/a.md": "a", "README.md": "theirs"}
	if err != nil || r.Count(folder.Replaced) != 1 || r.Count(folder.Unchanged) != 1 || !maps.Equal(files(t, dir), want) {
		t.Errorf("with force: %+v, %v: %q", r, err, files(t, dir))
	}
	// A link in the place of a file or folder is not written through.
	outside := t.TempDir()
	for _, name := range []string{"MEMORY.md", "memory"} {
		t.Run(name, func(t *testing.T) {
			d := t.TempDir()
			if err := os.Symlink(filepath.Join(outside, name), filepath.Join(d, name)); err != nil {
				t.Fatal(err)
			}
			_, err := folder.Export(t.Context(), kv, "p", d, folder.ExportOptions{Force: true})
			if left, _ := os.ReadDir(outside); err == nil || len(left) > 0 {
				t.Errorf("written through the link %s: %v, %v", name, err, left)
			}
		})
	}
}

// TestImportByHand: the folders of other tools, with whatever lies in them.
func TestImportByHand(t *testing.T) {
	features.Proves(t, "K28")
	kv, dir := openKV(t), t.TempDir()
	write(t, dir, map[string]string{
		"MEMORY.md": "- [Tests](feedback_tests.md) — no mocks\n",
		"feedback_tests.md": "---\nname: tests\ndescription: no mocks\nmetadata:\n  type: " +
			"feedback\n---\nNo mocks.\n",
		"memory/2026-11-20.md":        "## 10:00\n- talked to Jonas\n",
		"recipes/Coffee brewing.md":   "---\ntitle: Coffee brewing\n---\n- [method] pour over #coffee\n",
		".obsidian/workspace.json":    "{}",
		"picture.png":                 "\x89PNG\xff",
		"folder.with.dots/x.md":       "x",
		"long.md":                     strings.Repeat("x", 1<<20+1),
		"what is this?.md":            "a name that not all systems have",
		"memory/a%20b.md":             "one",
		"memory/a b.md":               "two",
		"people/Jonas Müller (2).txt": "A text.",
	})
	secret := filepath.Join(t.TempDir(), "secret")
	write(t, filepath.Dir(secret), map[string]string{"secret": "secret"})
	for link, target := range map[string]string{"link.md": secret, "linked": filepath.Dir(secret), "up.md": "../x.md"} {
		t.Run(link, func(t *testing.T) {
			if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
				t.Fatal(err)
			}
		})
	}
	dry, err := folder.Import(t.Context(), kv, "p", dir, folder.ImportOptions{DryRun: true})
	if err != nil || len(values(t, kv)) > 0 {
		t.Fatalf("a trial stored %q, %v", values(t, kv), err)
	}
	r, err := folder.Import(t.Context(), kv, "p", dir, folder.ImportOptions{})
	if err != nil || !slices.Equal(r.Files, dry.Files) || !r.New || r.Others != 0 || !dry.New {
		t.Fatalf("%+v, %v\nand the trial said %+v", r, err, dry)
	}
	got := slices.Sorted(maps.Keys(values(t, kv)))
	if want := []string{"MEMORY.md", "feedback_tests.md", "memory/2026-11-20.md", "memory/a b.md",
		"people/Jonas Müller (2).txt", "recipes/Coffee brewing.md"}; !slices.Equal(got, want) {
		t.Errorf("imported %q", got)
	}
	why := make(map[string]string)
	for _, f := range r.Files {
		if f.Action == folder.Skipped {
			why[f.Name] = f.Why
		}
	}
	for name, want := range map[string]string{
		".obsidian": "hidden", "picture.png": "not text", "long.md": "more than 1048576 bytes",
		"what is this?.md": "its name", "folder.with.dots/x.md": "its name",
		"memory/a%20b.md": "the same key", "link.md": "a link", "linked": "a link", "up.md": "a link",
	} {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(why[name], want) {
				t.Errorf("%s is skipped for %q", name, why[name])
			}
		})
	}
}

// TestImportTellsWhatStays: what is stored and no file of the folder is said to stay, and not what an earlier import
// stored beside another text.
func TestImportTellsWhatStays(t *testing.T) {
	features.Proves(t, "K28")
	kv, dir := openKV(t), t.TempDir()
	write(t, dir, map[string]string{"a.md": "one", "b.md": "two", "c.md": "three"})
	for _, c := range []struct {
		why    string
		files  map[string]string
		gone   string
		others int
		first  bool
	}{
		{"the first time", nil, "", 0, true},
		{"one is edited", map[string]string{"a.md": "one more"}, "", 0, false},
		{"again", nil, "", 0, false},
		{"one is taken out", nil, "b.md", 1, false},
	} {
		write(t, dir, c.files)
		if c.gone != "" {
			if err := os.Remove(filepath.Join(dir, c.gone)); err != nil {
				t.Fatal(err)
			}
		}
		r, err := folder.Import(t.Context(), kv, "p", dir, folder.ImportOptions{})
		if err != nil || r.Others != c.others || r.New != c.first {
			t.Errorf("%s: %+v, %v", c.why, r, err)
		}
	}
}

func TestImportConflicts(t *testing.T) {
	features.Proves(t, "K28")
	kv, dir := openKV(t), t.TempDir()
	put(t, kv, map[string]string{"a.md": "stored", "b.md": "same"})
	write(t, dir, map[string]string{"a.md": "imported", "b.md": "same"})
	for range 2 { // the second time changes nothing
		r, err := folder.Import(t.Context(), kv, "p", dir, folder.ImportOptions{})
		v := values(t, kv)
		if err != nil || r.Count(folder.KeptBoth)+r.Count(folder.Unchanged) != 2 || len(v) != 3 ||
			v["a.md"] != "stored" || v[r.Files[0].Key] != "imported" || !strings.HasPrefix(r.Files[0].Key, "a-imported-") {
			t.Fatalf("%+v, %v: %q", r, err, v)
		}
	}
	r, err := folder.Import(t.Context(), kv, "p", dir, folder.ImportOptions{Replace: true})
	if v := values(t, kv); err != nil || r.Count(folder.Replaced) != 1 || v["a.md"] != "imported" {
		t.Errorf("%+v, %v: %q", r, err, v)
	}
}

// failing is a KV that refuses the values of some keys.
type failing struct {
	*kv.Folder
	on string
}

func (f failing) Apply(ctx context.Context, ns string, changes []kv.Change) error {
	for _, c := range changes {
		if c.Key == f.on {
			return &abi.Error{Code: abi.CodeQuota, Message: "full"}
		}
	}
	return f.Folder.Apply(ctx, ns, changes)
}

func TestImportIsWholeOrNothing(t *testing.T) {
	features.Proves(t, "K28")
	stored, dir := openKV(t), t.TempDir()
	before := map[string]string{"a.md": "stored", "b.md": ""}
	put(t, stored, before)
	write(t, dir, map[string]string{"a.md": "imported", "b.md": "imported", "c.md": "imported", "d.md": "imported"})
	_, err := folder.Import(t.Context(), failing{stored, "d.md"}, "p", dir, folder.ImportOptions{Replace: true})
	if v := values(t, stored); abi.CodeOf(err) != abi.CodeQuota || !maps.Equal(v, before) {
		t.Errorf("%v, and stored is %q", err, v)
	}
	for name, quotas := range map[string]kv.Options{"files": {MaxKeys: 3}, "bytes": {MaxBytes: 20}} {
		t.Run(name, func(t *testing.T) {
			_, err := folder.Import(t.Context(), stored, "q", dir, folder.ImportOptions{Quotas: quotas})
			if keys, _ := stored.List(t.Context(), "q", ""); abi.CodeOf(err) != abi.CodeQuota || len(keys) > 0 {
				t.Errorf("too many %s: %v, stored %q", name, err, keys)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := folder.Import(ctx, stored, "q", dir, folder.ImportOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
	if _, err := folder.Import(t.Context(), stored, "q", filepath.Join(dir, "none"), folder.ImportOptions{}); abi.CodeOf(
		err) != abi.CodeBadInput {
		t.Errorf("no folder: %v", err)
	}
}
