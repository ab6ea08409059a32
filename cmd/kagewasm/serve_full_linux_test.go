package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/daemon"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/servetest"
	"github.com/kagewasm/kagewasm/internal/service"
	"github.com/kagewasm/kagewasm/store"
)

// onSmallDisk starts a server whose state folder is a disk of its own, of some megabytes, and
// returns where this process sees that disk.
func onSmallDisk(t *testing.T) (s *served, disk string) {
	t.Helper()
	dir := t.TempDir()
	s = &served{home: filepath.Join(dir, "state"), Cmd: exec.Command("sh", "-c",
		`mount -t tmpfs -o size=8m,mode=700 none "$1" || { echo cannot; exit 1; }
		exec "$0" serve --json --listen none --no-config --state "$1/state"`, os.Args[0], dir)}
	s.Env, s.Stderr = environment(s.home), os.Stderr
	s.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}}
	out, err := s.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Skipf("no disk can be made for a test here: %v", err)
	}
	t.Cleanup(func() { _ = s.Process.Kill(); _ = s.Wait() })
	var text strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if lines.Text() == "cannot" {
			t.Skip("no disk can be mounted for a test here")
		}
		text.WriteString(lines.Text())
		if json.Unmarshal([]byte(text.String()), &s.Address) == nil {
			break
		}
	}
	disk = filepath.Join("/proc", fmt.Sprint(s.Process.Pid), "root", dir)
	if s.Client, err = daemon.Find(t.Context(), filepath.Join(disk, "state")); err != nil {
		t.Fatalf("%v: %s", err, text.String())
	}
	t.Cleanup(s.Client.Close)
	return s, disk
}

// TestServeOnFullDisk: while the disk is full a server answers what it can read, and says of
// all changes that nothing was stored, and why. Where there is room again all goes on, with
// all that was acknowledged and nothing else, and the audit log is whole.
func TestServeOnFullDisk(t *testing.T) {
	features.Proves(t, "N5")
	s, disk := onSmallDisk(t)
	s.do(t, "POST", "/sessions", map[string]any{"id": "a", "context_window": 600}, nil)
	s.do(t, "POST", "/sessions/a/messages", map[string]any{"messages": servetest.Chat(30)}, nil)
	filler := filepath.Join(disk, "filler")
	f, err := os.Create(filler)
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	for path, body := range map[string]any{"/sessions/a/messages": map[string]any{"messages": servetest.Chat(0)},
		"/sessions/a/compact": map[string]any{}, "/sessions/a/rollback": map[string]any{"to_version": 1},
		"/sessions": map[string]any{"id": "b"}, "/sessions/a/turns": map[string]any{}} {
		err := s.Do(t.Context(), "POST", path, body, nil)
		if code := abi.CodeOf(err); code != abi.CodeState && code != abi.CodeCommit ||
			!strings.Contains(err.Error(), "full") {
			t.Errorf("%s: %v", path, err)
		}
	}
	var list struct{ Messages []abi.Message }
	s.do(t, "GET", "/sessions/a/messages?include_superseded=true", nil, &list)
	if len(list.Messages) != 62 {
		t.Errorf("%d messages", len(list.Messages))
	}
	if err := errors.Join(f.Close(), os.Remove(filler)); err != nil {
		t.Fatal(err)
	}
	s.do(t, "POST", "/sessions/a/messages", map[string]any{"messages": servetest.Chat(0)}, nil)
	s.do(t, "GET", "/sessions/a/messages?include_superseded=true", nil, &list)
	if len(list.Messages) != 64 {
		t.Errorf("%d messages", len(list.Messages))
	}
	var look service.Look
	s.do(t, "GET", "/sessions/a/context", nil, &look)
	if !look.Report.Compacted {
		t.Error(look.Report.Reason)
	}
	var audit store.AuditReport
	s.do(t, "GET", "/audit/verify", nil, &audit)
	if audit.Entries == 0 || len(audit.Problems) != 0 {
		t.Errorf("%+v", audit)
	}
	s.interrupted(t)
}
