package plugins_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"github.com/kagewasm/kagewasm/internal/pluginyaml"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/runtime"
	"github.com/kagewasm/kagewasm/store/kv"
)

// turns are messages of conversations, a day each: sentences of words as
// frequent as words are, every other one an answer of a few.
func turns(n int) (list []abi.InputMessage, bytes int) {
	r := rand.New(rand.NewPCG(1, 2))
	words := make([]string, 8000)
	for i := range words {
		for range 2 + r.IntN(3) {
			words[i] += string("bcdfghklmnprstvw"[r.IntN(16)]) + string("aeiou"[r.IntN(5)])
		}
	}
	frequent := rand.NewZipf(r, 1.1, 8, uint64(len(words)-1))
	start := time.Date(2023, 5, 8, 13, 56, 0, 0, time.UTC)
	for i := range n {
		var text strings.Builder
		for range 4 + r.IntN(36) {
			text.WriteString(words[frequent.Uint64()] + " ")
		}
		at := start.AddDate(0, 0, i/30).Add(time.Duration(i%30) * time.Minute)
		list = append(list, abi.InputMessage{Message: abi.Message{
			ID: fmt.Sprintf("m%06d", i), Role: abi.RoleUser, Name: []string{"Ann", "Bob"}[i%2],
			Timestamp: at.Format(time.RFC3339), Content: abi.Text(text.String()),
		}})
		bytes += text.Len()
	}
	return list, bytes
}

// loadBank loads the guest over a store of files.
func loadBank(t testing.TB) (p *runtime.Plugin, dir string) {
	t.Helper()
	m, err := runtime.OpenFile(plugintest.GuestFile(t, "plugins/hindsight/bank/testdata/guest"), pluginyaml.Parse)
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	kv, err := kv.Open(dir, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { kv.Close() })
	r, err := runtime.New(t.Context(), runtime.Options{KV: kv, CacheDir: plugintest.CacheDir(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(context.Background()) })
	p, err = r.Load(t.Context(), m, runtime.PluginOptions{Grants: plugintest.GrantAll(m.Manifest())})
	if err != nil {
		t.Fatal(err)
	}
	return p, dir
}

func bankInput(hook abi.Hook, messages []abi.InputMessage) *abi.Input {
	return &abi.Input{ABI: abi.Version, Call: "c1", Time: "2026-11-21T14:02:05Z", Hook: hook,
		Session: abi.Session{ID: "s1"}, Messages: messages}
}

// retainAll retains messages, that many a call, and returns what the calls took:
// the time of all and the most of anything else.
func retainAll(t testing.TB, p *runtime.Plugin, list []abi.InputMessage, size int) (all abi.CallStats) {
	t.Helper()
	for part := range slices.Chunk(list, size) {
		out, stats, err := p.Call(t.Context(), bankInput(abi.HookPreCompact, part))
		if err != nil || out.Inject != fmt.Sprint(len(part)) {
			t.Fatalf("%d messages: %+v, %v", len(part), out, err)
		}
		all.MS += stats.MS
		all.PeakMemoryBytes = max(all.PeakMemoryBytes, stats.PeakMemoryBytes)
		all.HostCallBytes = max(all.HostCallBytes, stats.HostCallBytes)
	}
	return all
}

// question is a message with the beginning of another one.
func question(m abi.InputMessage) []abi.InputMessage {
	words := strings.Fields(m.Text())
	m.Content = abi.Text(strings.Join(words[:min(8, len(words))], " "))
	return []abi.InputMessage{m}
}

// TestBankSandbox: in the sandbox, over real files and within the default
// limits, 10,000 turns are retained in one call and in a hundred, and recalled
// the same.
func TestBankSandbox(t *testing.T) {
	features.Proves(t, "K28")
	soak.Only(t, "10,000 turns through the sandbox")
	list, texts := turns(10_000)
	var want []string
	for _, size := range []int{len(list), 100} {
		t.Run(fmt.Sprintf("%d texts at a time", size), func(t *testing.T) {
			p, dir := loadBank(t)
			stats := retainAll(t, p, list, size)
			kept := 0
			err := filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
				if info, infoErr := d.Info(); err == nil && infoErr == nil && !d.IsDir() {
					kept += int(info.Size())
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("calls of %d: %.0f ms in all; a call %d MiB of memory, %.1f MB in host calls at most; %.2f times "+
				"the texts kept",
				size, stats.MS, stats.PeakMemoryBytes>>20, float64(stats.HostCallBytes)/1e6, float64(kept)/float64(texts))
			if kept >= 2*texts {
				t.Errorf("%d bytes kept for %d of texts", kept, texts)
			}
			var got []string
			for i := range 20 {
				m := list[i*500]
				out, stats, err := p.Call(t.Context(), bankInput(abi.HookTurnEnd, question(m)))
				if err != nil {
					t.Fatal(err)
				}
				if i == 0 {
					t.Logf("a recall: %v, %d KB", stats.HostCalls, stats.HostCallBytes/1000)
				}
				got = append(got, out.Inject)
				if !strings.Contains(out.Inject, m.ID) {
					t.Errorf("what %s begins with recalls %q", m.ID, out.Inject)
				}
			}
			if want == nil {
				want = got
			}
			if !slices.Equal(got, want) {
				t.Errorf("calls of %d recall otherwise", size)
			}
		})
	}
}

// BenchmarkK28BankRecall recalls among 10,000 turns that came in one call, in a
// hundred and in two thousand, in turns with a call that does nothing. Of the
// limit of 20 ms x-limit is what the median takes.
func BenchmarkK28BankRecall(b *testing.B) {
	list, _ := turns(10_000)
	for _, size := range []int{len(list), 100, 5} {
		b.Run(fmt.Sprintf("%d texts at a time", size), func(b *testing.B) {
			p, _ := loadBank(b)
			retained := retainAll(b, p, list, size)
			call := func(messages []abi.InputMessage) float64 {
				_, stats, err := p.Call(b.Context(), bankInput(abi.HookTurnEnd, messages))
				if err != nil {
					b.Fatal(err)
				}
				return stats.MS
			}
			var full, empty []float64
			for b.Loop() {
				full = append(full, call(question(list[len(full)*97%len(list)])))
				empty = append(empty, call(nil))
			}
			slices.Sort(full)
			slices.Sort(empty)
			median, nothing := full[len(full)/2], empty[len(empty)/2]
			b.ReportMetric(median, "recall-ms")
			b.ReportMetric(full[len(full)*95/100], "p95-ms")
			b.ReportMetric(median/20, "x-limit")
			b.ReportMetric(median/nothing, "x-empty")
			b.ReportMetric(retained.MS/1000, "retain-s")
		})
	}
}
