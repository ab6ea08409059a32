package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/config"
)

// project writes a configuration, and other files as pairs of path and text. It
// returns the path of the configuration.
func project(t testing.TB, yaml string, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		write(t, filepath.Join(dir, files[i]), files[i+1])
	}
	path := filepath.Join(dir, config.FileName)
	write(t, path, yaml)
	return path
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func load(t testing.TB, yaml string, files ...string) *config.Config {
	t.Helper()
	c, err := config.Load(project(t, yaml, files...))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// problems are those of a configuration that must not load.
func problems(t testing.TB, yaml string, files ...string) config.Problems {
	t.Helper()
	c, err := config.Load(project(t, yaml, files...))
	if err == nil {
		t.Fatalf("loaded: %+v", c)
	}
	if code := abi.CodeOf(err); code != abi.CodeBadInput {
		t.Errorf("code %q, want bad_input", code)
	}
	var ps config.Problems
	if !errors.As(err, &ps) {
		t.Fatalf("no problems behind %v", err)
	}
	return ps
}

// wantProblem checks the only problem of a configuration: where it is and what
// it says.
func wantProblem(t testing.TB, ps config.Problems, line, column int, says string) {
	t.Helper()
	if len(ps) != 1 {
		t.Fatalf("%d problems: %v", len(ps), ps)
	}
	if p := ps[0]; p.Line != line || p.Column != column || !strings.Contains(p.Message, says) {
		t.Errorf("%d:%d: %s; want %d:%d and %q", p.Line, p.Column, p.Message, line, column, says)
	}
}
