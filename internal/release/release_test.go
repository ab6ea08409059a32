package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/internal/soak"
)

// TestArchives: the same files give the same bytes, and come out as they went in.
func TestArchives(t *testing.T) {
	list := []entry{{"LICENSE", []byte("a licence"), 0o644}, {"kagewasm", bytes.Repeat([]byte("program"), 1000), 0o755}}
	r := &release{time: time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)}
	for name, write := range map[string]func(io.Writer, string, []entry) error{"tar.gz": r.tarball, "zip": r.zipped} {
		t.Run(name, func(t *testing.T) {
			var a, b bytes.Buffer
			if err := errors.Join(write(&a, "dir", list), write(&b, "dir", list)); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(a.Bytes(), b.Bytes()) {
				t.Error("two archives of the same files differ")
			}
			got := unpack(t, name, a.Bytes())
			for _, want := range list {
				e := got["dir/"+want.name]
				if !bytes.Equal(e.data, want.data) || e.mode != want.mode {
					t.Errorf("%s: mode %o, %d bytes", want.name, e.mode, len(e.data))
				}
			}
			if len(got) != len(list) {
				t.Errorf("%d files", len(got))
			}
		})
	}
}

// unpack reads an archive.
func unpack(t *testing.T, name string, data []byte) map[string]entry {
	t.Helper()
	got := make(map[string]entry)
	keep := func(name string, mode os.FileMode, from io.Reader) {
		data, err := io.ReadAll(from)
		if err != nil {
			t.Fatal(err)
		}
		got[name] = entry{name, data, mode.Perm()}
	}
	if strings.HasSuffix(name, "zip") {
		z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range z.File {
			from, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			keep(f.Name, f.Mode(), from)
		}
		return got
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return got
		} else if err != nil {
			t.Fatal(err)
		}
		if h.Uid != 0 || h.Gid != 0 || h.Uname != "" || h.ModTime.Location() == nil {
			t.Errorf("%+v", h)
		}
		keep(h.Name, h.FileInfo().Mode(), r)
	}
}

// TestRelease builds a release for this platform twice, unpacks it, and uses it as a person does who has nothing else.
func TestRelease(t *testing.T) {
	soak.Only(t, "it builds the program and its plugins as releases are built")
	one, two := t.TempDir(), t.TempDir()
	for _, out := range []string{one, two} {
		cmd := exec.CommandContext(t.Context(), "go", "run", "./internal/release", "-platforms", "host", "-out", out,
			"-version", "v0.9.8-test")
		cmd.Dir = shared.Root(t)
		if says, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, says)
		}
	}
	name := "kagewasm_v0.9.8-test_" + host.os + "_" + host.arch
	archive := name + ".tar.gz"
	if host.os == "windows" {
		archive = name + ".zip"
	}
	data := read(t, filepath.Join(one, archive))
	if !bytes.Equal(data, read(t, filepath.Join(two, archive))) {
		t.Error("two releases of one commit differ")
	}
	if got, want := string(read(t, filepath.Join(one, checksumsFile))),
		fmt.Sprintf("%x  %s\n", sha256.Sum256(data), archive); got != want {
		t.Errorf("checksums %q, want %q", got, want)
	}
	home := t.TempDir()
	for _, e := range unpack(t, archive, data) {
		path := filepath.Join(home, filepath.FromSlash(e.name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, e.data, e.mode)); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"LICENSE", "README.md", "CHANGELOG.md", "THIRD_PARTY_LICENSES.txt", "docs/abi.md",
		"man/man1/kagewasm-compact.1", "completions/kagewasm.bash", "completions/_kagewasm", "completions/kagewasm.fish",
		"completions/kagewasm.ps1"} {
		if len(read(t, filepath.Join(home, name, file))) == 0 {
			t.Errorf("%s is empty", file)
		}
	}
	p := installed{program: filepath.Join(home, name, host.program()), home: home}
	if size := len(read(t, p.program)); size > 60e6 {
		t.Errorf("the program has %d bytes", size)
	}
	p.use(t)
}

// installed is a release that somebody unpacked, and works with from another folder.
type installed struct{ program, home string }

func (p installed) run(t *testing.T, args ...string) (stdout, stderr string) {
	t.Helper()
	elsewhere := filepath.Join(p.home, "elsewhere")
	if err := os.MkdirAll(elsewhere, 0o755); err != nil {
		t.Fatal(err)
	}
	var out, says bytes.Buffer
	cmd := exec.CommandContext(t.Context(), p.program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = elsewhere, &out, &says
	cmd.Env = []string{"HOME=" + p.home, "LocalAppData=" + p.home} // nothing else: no path, no Go
	if err := cmd.Run(); err != nil {
		t.Fatalf("kagewasm %q: %v: %s", args, err, &says)
	}
	return out.String(), says.String()
}

func (p installed) use(t *testing.T) {
	var v struct {
		Version, Revision string
		ABI               int
		Plugins           []string
	}
	out, _ := p.run(t, "version", "--json")
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		t.Fatal(err)
	}
	if v.Version != "v0.9.8-test" || len(v.Revision) != 40 || v.ABI != 1 ||
		strings.Join(v.Plugins, " ") != "hindsight keeper markdown" {
		t.Errorf("%+v", v)
	}
	if out, _ = p.run(t, "inspect"); !strings.Contains(out, "hindsight 0.") || strings.Count(out, "sha256:") != 3 {
		t.Errorf("%s", out)
	}
	session := filepath.Join(shared.Root(t), "testdata", "demo.jsonl")
	for _, name := range v.Plugins {
		_, says := p.run(t, "compact", session, "--window", "32000", "--plugin", name, "--out", name+".jsonl")
		if !strings.Contains(says, name) || !strings.Contains(says, "pre_compact  ok") || strings.Contains(says, "failures") {
			t.Errorf("%s: %s", name, says)
		}
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
