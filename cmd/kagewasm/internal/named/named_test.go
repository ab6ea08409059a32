package named_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/klauspost/compress/zstd"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/named"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
	"github.com/kagewasm/kagewasm/runtime"
)

// module is a plugin of a name and a version.
func module(name, version string) []byte {
	return wasmtest.WithManifest(wasmtest.Nothing("pre_compact"),
		`{"name":"`+name+`","version":"`+version+`","abi":1,"description":"Does `+name+`.","hooks":["pre_compact"]}`)
}

func packed(t *testing.T, bin []byte) *fstest.MapFile {
	t.Helper()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &fstest.MapFile{Data: z.EncodeAll(bin, nil)}
}

// shelf has hindsight and keeper inside, and of the user's own a newer keeper and mine.
func shelf(t *testing.T) named.Shelf {
	t.Helper()
	s := named.Shelf{Dir: t.TempDir(), Inside: fstest.MapFS{
		"hindsight.wasm.zst": packed(t, module("hindsight", "1")), "keeper.wasm.zst": packed(t, module("keeper", "1")),
	}}
	for name, bin := range map[string][]byte{
		"keeper.wasm": module("keeper", "2"), "mine.wasm": module("mine", "1"), "other.wasm": module("keeper", "3"),
		"broken.wasm": []byte("no module"), "README": []byte("no plugin"), "Not A Name.wasm": module("x", "1"),
	} {
		if err := os.WriteFile(filepath.Join(s.Dir, name), bin, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// TestOpen: a name is looked for among the user's own, then in the program.
func TestOpen(t *testing.T) {
	s := shelf(t)
	for ref, version := range map[string]string{"hindsight": "1", "keeper": "2", "mine": "1",
		filepath.Join(s.Dir, "other.wasm"): "3"} {
		m, err := s.Open(ref)
		if err != nil {
			t.Errorf("%s: %v", ref, err)
		} else if got := m.Manifest().Version; got != version {
			t.Errorf("%s: version %s, want %s", ref, got, version)
		}
	}
	inside, err := s.Open("hindsight")
	if err != nil {
		t.Fatal(err)
	}
	plain, err := runtime.Open(module("hindsight", "1"))
	if err != nil || plain.Digest() != inside.Digest() {
		t.Errorf("the digest is %s packed, and %s unpacked: %v", inside.Digest(), plain.Digest(), err)
	}
}

// TestOpenNothing: an error says what there is, and how to get what there is not.
func TestOpenNothing(t *testing.T) {
	s := shelf(t)
	for ref, want := range map[string][]string{
		"hindsigt":  {"no plugin is called hindsigt", "mine", "did you mean hindsight?", "./hindsigt.wasm"},
		"xylophone": {"no plugin is called xylophone", "hindsight", s.Dir},
		"other":     {"the plugin keeper"},
		"broken":    {"broken"},
		"./nope":    {"nope"},
		"nope.wasm": {"nope.wasm"},
	} {
		_, err := s.Open(ref)
		if err == nil {
			t.Errorf("%s is opened", ref)
			continue
		}
		says := err.Error() + abi.AsError(err).Hint
		for _, part := range want {
			if !strings.Contains(says, part) {
				t.Errorf("%s: no %q in %q", ref, part, says)
			}
		}
	}
	_, err := named.Shelf{Inside: fstest.MapFS{}}.Open("hindsight")
	if e := abi.AsError(err); e.Code != abi.CodeUsage || !strings.Contains(e.Hint, "built without them") {
		t.Errorf("%v: %s", err, e.Hint)
	}
}

// TestNoFileForAName: what lies in the working directory is no plugin because of its name.
func TestNoFileForAName(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("hindsight", module("hindsight", "evil"), 0o600); err != nil {
		t.Fatal(err)
	}
	if m, err := shelf(t).Open("hindsight"); err != nil || m.Manifest().Version != "1" {
		t.Errorf("%v %v", m, err)
	}
	if m, err := shelf(t).Open("./hindsight"); err != nil || m.Manifest().Version != "evil" {
		t.Errorf("its path opens it: %v", err)
	}
}

// TestList: all that have a name are listed once, with what is wrong.
func TestList(t *testing.T) {
	s := shelf(t)
	var got []string
	for _, p := range s.List() {
		from := "own"
		if p.From == "inside" {
			from = p.From
		}
		if p.Error != "" {
			from = "error"
		} else if !strings.HasPrefix(p.Digest, "sha256:") || p.Description == "" {
			t.Errorf("%+v", p)
		}
		got = append(got, p.Name+" "+p.Version+" "+from)
	}
	want := []string{"broken  error", "hindsight 1 inside", "keeper 2 own", "mine 1 own", "other  error"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
