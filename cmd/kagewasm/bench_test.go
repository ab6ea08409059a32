package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/state"
	"github.com/kagewasm/kagewasm/internal/sessiongen"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/tokens"
	"github.com/kagewasm/kagewasm/transcript"
)

// BenchmarkCompact runs the command as a person would, on sessions of about
// 200,000 and 2,000,000 tokens, and reports how time grows (ns/token should
// stay) and how much memory a session takes: the most the process held beyond
// what it holds for a session of three messages, over the size of the file.
func BenchmarkCompact(b *testing.B) {
	if goruntime.GOOS != "linux" {
		b.Skip("reads the peak of resident memory as Linux reports it")
	}
	dir := b.TempDir()
	bin := filepath.Join(dir, "kagewasm")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	counter, err := tokens.New(tokens.O200k, tokens.Options{})
	if err != nil {
		b.Fatal(err)
	}
	tables := peak(b, bin, write(b, dir, "tables", rounds(b, 1)[:3]))
	for _, bench := range []struct {
		name   string
		tokens int
	}{{"200k", 200_000}, {"2M", 2_000_000}} {
		var msgs []abi.Message
		total := 0
		for n := 1; total < bench.tokens; n++ {
			for _, m := range rounds(b, n) {
				msgs = append(msgs, m)
				total += counter.Message(&m)
			}
		}
		path := write(b, dir, bench.name, msgs)
		b.Run(bench.name, func(b *testing.B) {
			var most int64
			for b.Loop() {
				most = max(most, peak(b, bin, path))
			}
			info, err := os.Stat(path)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(total), "tokens")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(total), "ns/token")
			b.ReportMetric(float64(most-tables)/float64(info.Size()), "mem/input")
		})
	}
}

// rounds is a real session as the nth round of a longer one: ids and texts of
// its own, so that no count and no name is met twice. Without shared sessions
// it is the demo, whose messages are shorter than those of most.
func rounds(b *testing.B, n int) []abi.Message {
	paths := shared.With(b, nil)
	if len(paths) == 0 {
		paths = []string{filepath.Join("..", "..", "testdata", "demo.jsonl")}
	}
	data, err := os.ReadFile(paths[n%len(paths)])
	if err != nil {
		b.Fatal(err)
	}
	s, err := transcript.Read("session", data, transcript.Neutral)
	if err != nil {
		b.Fatal(err)
	}
	for i := range s.Messages {
		m := &s.Messages[i]
		m.ID = fmt.Sprintf("%s-%d", m.ID, n)
		m.Content = abi.Text(fmt.Sprintf("round%d step_%d_%d: %s", n, n, i, m.Text()))
		if m.ToolCallID != "" {
			m.ToolCallID = fmt.Sprintf("%s-%d", m.ToolCallID, n)
		}
		for k := range m.ToolCalls {
			m.ToolCalls[k].ID = fmt.Sprintf("%s-%d", m.ToolCalls[k].ID, n)
		}
	}
	return s.Messages
}

func write(b *testing.B, dir, name string, msgs []abi.Message) string {
	path := filepath.Join(dir, name+".jsonl")
	if err := os.WriteFile(path, sessiongen.JSONL(msgs), 0o644); err != nil {
		b.Fatal(err)
	}
	return path
}

// peak compacts the session and returns the most memory the process held, in
// bytes. It asks while the process runs: what the system reports afterwards
// includes the benchmark's own memory at the time of the fork.
func peak(b *testing.B, bin, path string) (most int64) {
	cmd := exec.Command(bin, "compact", path, "--window", "128000", "--state", state.InMemory, "-q", "--out", path+".out")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for tick := time.NewTicker(2 * time.Millisecond); ; {
		select {
		case err := <-done:
			tick.Stop()
			if err != nil {
				b.Fatalf("%v\n%s", err, out.Bytes())
			}
			return most
		case <-tick.C:
			most = max(most, highWater(cmd.Process.Pid))
		}
	}
}

// highWater is the most memory a running process has held so far.
func highWater(pid int) int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, line, _ := strings.Cut(string(status), "VmHWM:")
	var kb int64
	fmt.Sscan(line, &kb)
	return kb << 10
}
