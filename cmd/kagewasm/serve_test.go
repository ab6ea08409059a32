//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/daemon"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/state"
	"github.com/kagewasm/kagewasm/internal/agenttest"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/servetest"
	"github.com/kagewasm/kagewasm/internal/service"
	"github.com/kagewasm/kagewasm/store"
)

// served is a server that runs as a program of its own.
type served struct {
	*exec.Cmd
	daemon.Address
	home string
	*daemon.Client
}

// serve starts one over a state folder.
func serve(t *testing.T, home, dir string, args ...string) *served {
	t.Helper()
	return serveBy(t, os.Args[0], home, dir, args...)
}

// serveBy starts one by a program.
func serveBy(t *testing.T, program, home, dir string, args ...string) *served {
	t.Helper()
	return serveTo(t, os.Stderr, program, home, dir, args...)
}

// serveTo starts one by a program, which logs there.
func serveTo(t *testing.T, log io.Writer, program, home, dir string, args ...string) *served {
	t.Helper()
	s := &served{home: home, Cmd: exec.Command(program, append([]string{"serve", "--json", "--state", home},
		args...)...)}
	s.Env = environment(home)
	s.Dir, s.Stderr = dir, log
	out, err := s.StdoutPipe()
	if err == nil {
		err = s.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Process.Kill(); _ = s.Wait() })
	var text strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		text.WriteString(lines.Text())
		if json.Unmarshal([]byte(text.String()), &s.Address) == nil {
			break
		}
	}
	if s.Client, err = daemon.Find(t.Context(), home); err != nil {
		t.Fatalf("%v: %s", err, text.String())
	}
	t.Cleanup(s.Client.Close)
	return s
}

// interrupted ends a server as a person does, who waits for it.
func (s *served) interrupted(t *testing.T) {
	t.Helper()
	if err := errors.Join(s.Process.Signal(os.Interrupt), s.Wait()); err != nil {
		t.Error(err)
	}
}

// do asks a server, which has to do it.
func (s *served) do(t *testing.T, method, path string, in, out any) {
	t.Helper()
	if err := s.Do(t.Context(), method, path, in, out); err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
}

// TestServe: the server needs nothing but itself. The token and the socket are the user's
// alone, the socket needs no token, and what the command does to a session the server sees.
func TestServe(t *testing.T) {
	features.Proves(t, "K16")
	home := filepath.Join(t.TempDir(), "state")
	s := serve(t, home, t.TempDir(), "--listen", "127.0.0.1:0", "--no-config")
	for _, path := range []string{s.TokenFile, s.Socket} {
		if info, err := os.Lstat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	for token, want := range map[string]int{strings.TrimSpace(string(read(t, s.TokenFile))): 200, "": 401, "wrong": 401} {
		req, err := http.NewRequestWithContext(t.Context(), "GET", s.URL+"/api/v1/sessions", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("token %q: %s", token, resp.Status)
		}
	}
	s.do(t, "POST", "/sessions", map[string]any{"id": "a", "context_window": 600}, nil)
	s.do(t, "POST", "/sessions/a/messages", map[string]any{"messages": servetest.Chat(30)}, nil)
	var look, again service.Look
	s.do(t, "GET", "/sessions/a/context", nil, &look)
	if !look.Report.Compacted {
		t.Errorf("%s", look.Report.Reason)
	}
	if code, said := runOn(t, home, "undo", "a"); code != 0 {
		t.Fatal(said)
	}
	s.do(t, "GET", "/sessions/a/context", nil, &again)
	if again.Version <= look.Version+1 || !again.Report.Compacted {
		t.Errorf("behind an undo of the command: version %d, %s", again.Version, again.Report.Reason)
	}
	if other := exec.Command(os.Args[0], "serve", "--state", home, "--listen", "none"); true {
		other.Env = s.Env
		if said, err := other.CombinedOutput(); err == nil || !strings.Contains(string(said), "another server") {
			t.Errorf("a second one: %v, %s", err, said)
		}
	}
	s.interrupted(t)
	if _, err := daemon.Find(t.Context(), home); !errors.Is(err, daemon.ErrNone) {
		t.Error(err)
	}
}

// TestServeTakesOver: a server that plugs started in the background gives its folder up to one that a person starts,
// which answers at the same socket. One that a person started gives up to nobody, and the next one is told how it ends.
func TestServeTakesOver(t *testing.T) {
	dir := agenttest.Folder(t)
	home := filepath.Join(dir, "state")
	if code, said := runOn(t, home, "serve", "--background"); code != 0 || !state.Background(home) {
		t.Fatalf("%d %s; known to run in the background: %v", code, said, state.Background(home))
	}
	if code, said := runOn(t, home, "serve", "--listen", "abc"); code != 2 || !strings.Contains(said, "--listen abc") ||
		!state.Background(home) {
		t.Errorf("an address that is none: %d %s", code, said)
	}
	s := serve(t, home, t.TempDir(), "--listen", "127.0.0.1:0", "--no-config")
	if state.Background(home) || s.URL == "" {
		t.Errorf("it listens at %q, and one in the background goes on: %v", s.URL, state.Background(home))
	}
	s.do(t, "GET", "/sessions", nil, nil)
	if code, said := runOn(t, home, "serve", "--listen", "127.0.0.1:0"); code == 0 ||
		!strings.Contains(said, "kagewasm serve --stop") {
		t.Errorf("a second one: %d %s", code, said)
	}
	s.interrupted(t)
}

// TestServeStopsWhenIdle: a server that was started on demand ends by itself, and the next
// one who needs it starts another; two at once get the same.
func TestServeStopsWhenIdle(t *testing.T) {
	dir := agenttest.Folder(t)
	home := filepath.Join(dir, "state")
	t.Setenv(asProgram, "1")
	t.Setenv("HOME", dir)
	start := func() *daemon.Client {
		c, err := daemon.Start(t.Context(), home, 400*time.Millisecond, "--no-config")
		if err != nil {
			t.Error(err)
		}
		return c
	}
	done := make(chan *daemon.Client)
	go func() { done <- start() }()
	one, two := start(), <-done
	if t.Failed() {
		t.FailNow()
	}
	for _, c := range []*daemon.Client{one, two} {
		if err := c.Do(t.Context(), "GET", "/sessions", nil, nil); err != nil {
			t.Error(err)
		}
		c.Close()
	}
	ended := func() {
		for range 600 {
			if !state.Taken(home) {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
		t.Fatal("it goes on")
	}
	ended()
	if _, err := daemon.Find(t.Context(), home); !errors.Is(err, daemon.ErrNone) {
		t.Error(err)
	}
	if c := start(); c != nil {
		c.Close()
	}
	ended()
}

// TestServeFinishes: a compaction at hand is finished when the server is told to end, and
// is there when it starts again.
func TestServeFinishes(t *testing.T) {
	features.Proves(t, "K17")
	home := filepath.Join(t.TempDir(), "state")
	s := serve(t, home, t.TempDir(), "--listen", "none", "--no-config")
	s.do(t, "POST", "/sessions", map[string]any{"id": "a", "context_window": 20_000}, nil)
	s.do(t, "POST", "/sessions/a/messages", map[string]any{"messages": servetest.Chat(2000)}, nil)
	answered := make(chan error, 1)
	var done service.Compacted
	go func() { answered <- s.Do(t.Context(), "POST", "/sessions/a/compact", map[string]any{}, &done) }()
	time.Sleep(20 * time.Millisecond) // it may be over
	s.interrupted(t)
	if err := <-answered; err != nil || !done.Report.Compacted {
		t.Fatalf("%+v, %v", done.Report, err)
	}
	s = serve(t, home, t.TempDir(), "--listen", "none", "--no-config")
	var list struct{ Compactions []store.Record }
	s.do(t, "GET", "/sessions/a/compactions", nil, &list)
	if len(list.Compactions) != 1 || list.Compactions[0].ID != done.Record.ID {
		t.Errorf("%+v", list)
	}
}

// TestServeFollowsItsConfiguration: a change of the file holds from the next compaction
// on; one that cannot be read changes nothing.
func TestServeFollowsItsConfiguration(t *testing.T) {
	features.Proves(t, "T11")
	dir, home := t.TempDir(), filepath.Join(t.TempDir(), "state")
	path := filepath.Join(dir, "kagewasm.yaml")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		time.Sleep(150 * time.Millisecond) // files are looked at ten times a second
	}
	write("compaction: {upper_threshold: 0.9}\n")
	s := serve(t, home, dir, "--listen", "none", "--config", path)
	s.do(t, "POST", "/sessions", map[string]any{"id": "a", "context_window": 100_000}, nil)
	s.do(t, "POST", "/sessions/a/messages", map[string]any{"messages": servetest.Chat(200)}, nil)
	upper := func() float64 {
		var look service.Look
		s.do(t, "GET", "/sessions/a/context", nil, &look)
		return look.Report.Upper
	}
	if got := upper(); got != 0.9 {
		t.Errorf("upper %v", got)
	}
	write("compaction: {upper_threshold: 0.8}\n")
	if got := upper(); got != 0.8 {
		t.Errorf("upper %v behind the change", got)
	}
	write("compaction: {upper_threshold: high}\n")
	if got := upper(); got != 0.8 {
		t.Errorf("upper %v behind one that cannot be read", got)
	}
	s.Process.Signal(syscall.SIGTERM)
	if err := s.Wait(); err != nil {
		t.Error(err)
	}
}

// TestServeTakesAConfigurationThatAppears: a change takes effect at the next check, without a restart, and so does the
// first file.
func TestServeTakesAConfigurationThatAppears(t *testing.T) {
	features.Proves(t, "T11")
	dir := t.TempDir()
	s := serve(t, filepath.Join(t.TempDir(), "state"), dir, "--listen", "none")
	s.do(t, "POST", "/sessions", map[string]any{"id": "a", "context_window": 100_000}, nil)
	s.do(t, "POST", "/sessions/a/messages", map[string]any{"messages": servetest.Chat(200)}, nil)
	for _, step := range []struct {
		text string
		want float64
	}{{"", 0.85}, {"compaction: {upper_threshold: high}\n", 0.85}, {"compaction: {upper_threshold: 0.8}\n", 0.8}} {
		if step.text != "" {
			if err := os.WriteFile(filepath.Join(dir, "kagewasm.yaml"), []byte(step.text), 0o600); err != nil {
				t.Fatal(err)
			}
			time.Sleep(150 * time.Millisecond) // files are looked at ten times a second
		}
		var look service.Look
		if s.do(t, "GET", "/sessions/a/context", nil, &look); look.Report.Upper != step.want {
			t.Errorf("upper %v with %q, want %v", look.Report.Upper, step.text, step.want)
		}
	}
}
