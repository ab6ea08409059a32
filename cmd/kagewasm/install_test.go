//go:build unix

package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/plug"
)

// TestInstallCodex: Codex gets the proxy for its provider where one answers, gets its settings back byte for byte, and
// keeps them where nothing answers, or something else does.
func TestInstallCodex(t *testing.T) {
	const settings = "model = \"m\"\n[tui]\nnotifications = false"
	for _, tc := range []struct {
		behind string // what answers there
		says   string // what is said of it, where that is no proxy
	}{
		{behind: `{"kagewasm":"v0.1.0"}`},
		{behind: "404 page not found", says: "something else than kagewasm proxy answers"},
		{behind: "", says: "nothing answers"},
	} {
		t.Run(tc.behind, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != plug.WhoPath {
					w.WriteHeader(http.StatusNotFound)
				}
				_, _ = io.WriteString(w, tc.behind)
			}))
			defer s.Close()
			if tc.behind == "" {
				s.Close()
			}
			home := filepath.Join(t.TempDir(), "state")
			codex := filepath.Join(filepath.Dir(home), "own", ".codex") // see environment
			config := filepath.Join(codex, "config.toml")
			if err := os.MkdirAll(codex, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(config, []byte(settings), 0o600); err != nil {
				t.Fatal(err)
			}
			t.Setenv("CODEX_HOME", codex)
			address := strings.TrimPrefix(s.URL, "http://")
			code, said := runOn(t, home, "install", "codex", "--listen", address)
			is := string(read(t, config))
			if tc.says != "" {
				if code == 0 || !strings.Contains(said, tc.says) || is != settings {
					t.Errorf("%d %s\n%s", code, said, is)
				}
				return
			}
			if code != 0 || !strings.Contains(is, `base_url = "http://`+address+`"`) ||
				!strings.HasPrefix(is, `model_provider = "kagewasm"`) {
				t.Fatalf("%d %s\n%s", code, said, is)
			}
			if code, said := runOn(t, home, "install", "codex"); code != 0 || string(read(t, config)) != is {
				t.Errorf("again: %d %s", code, said)
			}
			if code, said := runOn(t, home, "doctor", "codex"); code != 1 || !strings.Contains(said, "it is version v0.1.0") {
				t.Errorf("doctor: %d %s", code, said)
			}
			if code, said := runOn(t, home, "uninstall", "codex"); code != 0 || string(read(t, config)) != settings {
				t.Errorf("%d %s\n%s", code, said, read(t, config))
			}
		})
	}
}

// TestInstallCodexFails: a first installation that fails behind its service leaves neither the service nor its files.
func TestInstallCodexFails(t *testing.T) {
	if goruntime.GOOS != "linux" {
		t.Skip("the service manager that stands in is systemd's")
	}
	root := t.TempDir()
	codex, asked := filepath.Join(root, "own", ".codex"), filepath.Join(root, "asked")
	if err := os.MkdirAll(codex, 0o755); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(codex, "config.toml")
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = os.Mkdir(config, 0o755) // from here on it cannot be written
		_, _ = io.WriteString(w, `{"kagewasm":"v0.1.0"}`)
	}))
	defer s.Close()
	manager := "#!/bin/sh\necho \"$@\" >> " + asked + "\n"
	if err := os.WriteFile(filepath.Join(root, "systemctl"), []byte(manager), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", root+":"+os.Getenv("PATH"))
	t.Setenv("CODEX_HOME", codex)
	units := filepath.Join(root, "units")
	t.Setenv("XDG_CONFIG_HOME", units)
	address := strings.TrimPrefix(s.URL, "http://")
	code, said := runOn(t, filepath.Join(root, "state"), "install", "codex", "--listen", address)
	if code == 0 || !strings.Contains(said, "config.toml") {
		t.Errorf("%d %s", code, said)
	}
	if lines := strings.Split(strings.TrimSpace(string(read(t, asked))), "\n"); !strings.Contains(
		lines[len(lines)-1], "disable --now") {
		t.Errorf("of the service manager was asked: %q", lines)
	}
	left, err := filepath.Glob(filepath.Join(units, "systemd", "user", "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left: %q, %v", left, err)
	}
}
