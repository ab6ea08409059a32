package main

import (
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"syscall"
	"testing"

	"github.com/kagewasm/kagewasm/internal/sessiongen"
	"github.com/kagewasm/kagewasm/tokens"
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
	tables := peak(b, bin, write(b, dir, "tables", 1))
	for _, bench := range []struct {
		name  string
		turns int
	}{{"200k", 330}, {"2M", 3300}} {
		path := write(b, dir, bench.name, bench.turns)
		msgs := sessiongen.Long(bench.turns, resultWords)
		total := 0
		for i := range msgs {
			total += counter.Message(&msgs[i])
		}
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

const resultWords = 400

func write(b *testing.B, dir, name string, turns int) string {
	path := filepath.Join(dir, name+".jsonl")
	if err := os.WriteFile(path, sessiongen.JSONL(sessiongen.Long(turns, resultWords)), 0o644); err != nil {
		b.Fatal(err)
	}
	return path
}

// peak compacts the session and returns the most memory the process held, in
// bytes.
func peak(b *testing.B, bin, path string) int64 {
	cmd := exec.Command(bin, "compact", path, "--window", "128000", "--state", inMemory, "-q", "--out", path+".out")
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
}
