//go:build unix

package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/daemon"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/plug"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/state"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/service"
)

// TestServeForPlugs: a plug that asks the server gets what was set for it, whatever the server itself goes by, and is
// recorded under the agent's id. One of another version, or that is not installed, is told so.
func TestServeForPlugs(t *testing.T) {
	features.Proves(t, "N11")
	home := filepath.Join(t.TempDir(), "state")
	if code, said := runOn(t, home, "install", "pi"); code != 0 {
		t.Fatal(said)
	}
	settings := "compaction: {lower_threshold: 0.31}\n"
	if err := os.WriteFile(filepath.Join(home, "agents", "pi.yaml"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serve(t, home, t.TempDir(), "--listen", "none", "--no-config")
	sample, err := plug.Sample("neutral")
	if err != nil {
		t.Fatal(err)
	}
	ask := func(name, version string) (made service.Made, err error) {
		err = s.Do(t.Context(), "POST", "/compact", map[string]any{"plug": name, "plug_version": version, "id": "talk",
			"format": "neutral", "force": true, "record": true, "no_prune": true, "messages": string(sample)}, &made)
		return made, err
	}
	own := readVersion().build()
	made, err := ask("pi", own)
	if err != nil || !made.Report.Compacted || made.Report.Lower != 0.31 || made.Session != "talk" ||
		made.Report.Pruned.Count != 0 {
		t.Errorf("%+v, %v", made.Report, err)
	}
	if made, err = ask("", ""); err != nil || made.Report.Lower == 0.31 {
		t.Errorf("somebody else goes by what is set for the plug: lower %v, %v", made.Report.Lower, err)
	}
	for _, tc := range []struct {
		name, version string
		code          abi.Code
		hint          string
	}{
		{"pi", "v0.0.1", abi.CodeConflict, "kagewasm install pi"},
		{"pi", "", abi.CodeConflict, "kagewasm install pi"},
		{"opencode", own, abi.CodeConflict, "kagewasm install opencode"},
		{"nobody", own, abi.CodeUsage, ""},
	} {
		_, err := ask(tc.name, tc.version)
		if abi.CodeOf(err) != tc.code || !strings.Contains(abi.AsError(err).Hint, tc.hint) {
			t.Errorf("%s %s: %v, hint %q", tc.name, tc.version, err, abi.AsError(err).Hint)
		}
	}
}

// TestServeInTheBackground: it is started once, and ends when it is told to.
func TestServeInTheBackground(t *testing.T) {
	home := filepath.Join(t.TempDir(), "state")
	for range 2 {
		if code, said := runOn(t, home, "serve", "--background", "--idle", "1h"); code != 0 ||
			!strings.Contains(said, daemon.Socket(home)) {
			t.Fatal(said)
		}
	}
	if c, err := daemon.Find(t.Context(), home); err != nil {
		t.Error(err)
	} else {
		c.Close()
	}
	if code, said := runOn(t, home, "serve", "--background", "--listen", "127.0.0.1:0"); code != 2 {
		t.Errorf("%d %s", code, said)
	}
	for _, want := range []int{0, 2} {
		if code, said := runOn(t, home, "serve", "--stop"); code != want {
			t.Errorf("it ends with %d: %s", code, said)
		}
	}
}

// TestServeOfAPerson: a server that a person starts is theirs, also over the socket alone and until it is idle: no
// other one takes its place.
func TestServeOfAPerson(t *testing.T) {
	home := filepath.Join(t.TempDir(), "state")
	s := serve(t, home, t.TempDir(), "--listen", "none", "--no-config", "--idle", "1h")
	if state.Background(home) {
		t.Error("it counts as one in the background")
	}
	code, said := runOn(t, home, "serve", "--listen", "127.0.0.1:0", "--no-config", "--idle", "1s")
	if code == 0 || !strings.Contains(said, "another server has this state folder") {
		t.Errorf("another one: %d %s", code, said)
	}
	if err := s.Do(t.Context(), "GET", "/openapi.json", nil, nil); err != nil {
		t.Error(err)
	}
}

// TestServeEndsWithItsProgram: a server that was started on demand ends when its program is replaced, so that the next
// one is of the new version.
func TestServeEndsWithItsProgram(t *testing.T) {
	home := filepath.Join(t.TempDir(), "state")
	program := filepath.Join(t.TempDir(), "kagewasm")
	if err := os.WriteFile(program, read(t, os.Args[0]), 0o700); err != nil {
		t.Fatal(err)
	}
	s := serveBy(t, program, home, t.TempDir(), "--listen", "none", "--no-config", "--idle", "1h",
		"--on-demand")
	if err := os.WriteFile(program+".new", []byte("another"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(program+".new", program); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Wait() }()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-ctx.Done():
		t.Fatal("it goes on")
	}
	if _, err := daemon.Find(t.Context(), home); !errors.Is(err, daemon.ErrNone) {
		t.Error(err)
	}
}
