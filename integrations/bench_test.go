package integrations_test

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/internal/agenttest"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/tokens"
)

// BenchmarkMod is a compaction of 200,000 tokens by the mod of Claude Code, which asks kagewasm's server over its
// socket: from the messages that the mod is handed to those that it returns, with the store. 300 ms are wanted at the
// 95th percentile.
func BenchmarkMod(b *testing.B) {
	const runs, wanted = 40, 200_000
	if _, err := exec.LookPath("node"); err != nil {
		b.Skip("there is no node to drive the mod")
	}
	counter, err := tokens.New(tokens.O200k, tokens.Options{})
	if err != nil {
		b.Fatal(err)
	}
	msgs, total := recorded(b, longSession), 0
	for i := range msgs {
		if total += counter.Message(&msgs[i]); total >= wanted {
			msgs = msgs[:i+1]
			break
		}
	}
	kagewasm := agenttest.Kagewasm(b)
	for b.Loop() {
		h := agenttest.NewHome(b, kagewasm)
		h.Must(b, kagewasm, "install", "claude-code")
		mod := filepath.Join(h.Dir, ".claude", "skills", "kagewasm")
		if err := os.WriteFile(filepath.Join(mod, "package.json"), []byte(`{"type":"module"}`), 0o644); err != nil {
			b.Fatal(err)
		}
		server := exec.Command(kagewasm, "serve", "--listen", "none", "--no-config")
		server.Env = h.Env
		said, err := server.StdoutPipe()
		if err == nil {
			err = server.Start()
		}
		if err != nil {
			b.Fatal(err)
		}
		bufio.NewScanner(said).Scan() // it listens
		input, err := json.Marshal(map[string]any{"lines": msgs, "runs": runs, "window": wanted})
		if err != nil {
			b.Fatal(err)
		}
		out := h.RunWith(b, string(input), "node", filepath.Join(shared.Root(b), "integrations", "testdata", "mod.mjs"), mod)
		if out.Err != nil || out.Stderr != "" {
			b.Fatalf("%v\n%s", out.Err, out.Stderr)
		}
		h.Must(b, kagewasm, "serve", "--stop")
		if err := server.Wait(); err != nil {
			b.Fatal(err)
		}
		var did struct {
			Took       []float64
			CPU        float64
			Rows, Left int
		}
		if err := json.Unmarshal([]byte(out.Stdout), &did); err != nil || did.Left == 0 || did.Left >= did.Rows {
			b.Fatalf("%d rows of %d are left, %v", did.Left, did.Rows, err)
		}
		slices.Sort(did.Took)
		spent := server.ProcessState.UserTime() + server.ProcessState.SystemTime()
		b.ReportMetric(did.Took[runs/2], "p50-ms")
		b.ReportMetric(did.Took[runs*95/100], "p95-ms")
		b.ReportMetric(did.CPU/runs, "mod-cpu-ms")
		b.ReportMetric(float64(spent)/float64(time.Millisecond)/runs, "server-cpu-ms")
		b.ReportMetric(float64(total), "tokens")
		b.ReportMetric(0, "ns/op")
	}
}
