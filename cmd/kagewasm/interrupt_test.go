//go:build unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
)

// TestInterrupt: an interrupt ends a command within a tenth of a second, whatever it
// is doing, and leaves a whole result or none.
func TestInterrupt(t *testing.T) {
	dir := t.TempDir()
	session := filepath.Join(dir, "session.jsonl")
	if err := os.WriteFile(session, []byte(longSession(1500)), 0o600); err != nil {
		t.Fatal(err)
	}
	if paths := shared.Glob(t, "data", "formats", "pi-session.jsonl"); soak.Count(0, 1, 1) > 0 && len(paths) > 0 {
		session = paths[0] // a real one, of 2 MB
	}
	guest := func(name, role, answer string) string {
		path := filepath.Join(dir, name+".wasm")
		manifest := `{"name":"` + name + `","version":"1","abi":1,"roles":["` + role + `"],"hooks":["pre_compact"]}`
		if err := os.WriteFile(path, wasmtest.WithManifest(wasmtest.Answer("pre_compact", answer), manifest),
			0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	type command struct {
		name  string
		flags []string
	}
	commands := []command{
		{"a summary that is slow to count", []string{"--timeout-ms", "300", "--plugin",
			guest("summary", "compactor", `{"summary":"`+strings.Repeat("<", 1_000_000)+`"}`)}},
		{"a large session", nil},
		{"a text that is slow to cut", []string{"--plugin",
			guest("inject", "observer", `{"inject":"`+strings.Repeat("https://a.b/c?token=", 200_000)+`"}`)}},
		{"a million messages", []string{"--plugin",
			guest("messages", "compactor", `{"messages":[`+strings.Repeat("{},", 1_390_000)+`1]}`)}},
	}
	for _, c := range soak.Sample(commands, 1, 4) {
		t.Run(c.name, func(t *testing.T) {
			args := append([]string{"compact", session, "--force", "--no-config", "--state", ":memory:", "-q"}, c.flags...)
			whole, want := interrupted(t, args, time.Hour)
			moments := soak.Count(1, 5, 40)
			for i := range moments {
				after := whole * time.Duration(i+1) / time.Duration(moments+1)
				took, got := interrupted(t, args, after)
				for range 4 { // the machine may be busy with other things
					if took <= 100*time.Millisecond {
						break
					}
					again, _ := interrupted(t, args, after)
					took = min(took, again)
				}
				if took > 100*time.Millisecond {
					t.Errorf("interrupted after %v, it took %v to end", after, took)
				}
				if got != nil && len(got) != len(want) { // they differ in their timestamps
					t.Errorf("interrupted after %v, it left %d bytes of %d", after, len(got), len(want))
				}
			}
		})
	}
}

// interrupted runs the command and interrupts it. It returns how long the command then
// took to end, all of its time where it was over before, and what stands in --out; nil
// where nothing does.
func interrupted(t *testing.T, args []string, after time.Duration) (took time.Duration, out []byte) {
	t.Helper()
	dir := t.TempDir()
	result := filepath.Join(dir, "out.jsonl")
	cmd := exec.Command(os.Args[0], append(args, "--out", result)...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	start := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var exit *exec.ExitError
	select {
	case err := <-ended:
		if err != nil {
			t.Fatal(err)
		}
		if took = time.Since(start); after < time.Hour {
			took = 0
		}
	case <-time.After(after):
		start = time.Now()
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		err := <-ended
		took = time.Since(start)
		bySignal := false // before the command listens for it
		if errors.As(err, &exit) {
			status, ok := exit.Sys().(syscall.WaitStatus)
			bySignal = ok && status.Signal() == syscall.SIGINT
		}
		if err != nil && !bySignal && exit.ExitCode() != 1 {
			t.Errorf("it ended with %v", err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != filepath.Base(result) {
			t.Errorf("it left %s", e.Name())
		}
	}
	if out, err = os.ReadFile(result); errors.Is(err, os.ErrNotExist) {
		return took, nil
	}
	return took, out
}
