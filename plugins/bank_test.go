package plugins_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/kit"
	"github.com/kagewasm/kagewasm/runtime"
	"github.com/kagewasm/kagewasm/store"
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
			ID: fmt.Sprintf("m%06d", i), Role: abi.RoleUser, Name: []string{"Ann", "Bob"}[i%2], Timestamp: at.Format(time.RFC3339), Content: abi.Text(text.String()),
		}})
		bytes += text.Len()
	}
	return list, bytes
}

var bankGuest = sync.OnceValues(func() (kit.Result, error) {
	dir, err := os.MkdirTemp("", "kagewasm-bank-")
	if err != nil {
		return kit.Result{}, err
	}
	return kit.Build(context.Background(), kit.Options{Dir: filepath.Join("hindsight", "bank", "testdata", "guest"), Out: dir})
})

// loadBank loads the guest over a store of files.
func loadBank(t testing.TB) (p *runtime.Plugin, dir string) {
	t.Helper()
	built, err := bankGuest()
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	kv, err := store.OpenKV(dir, store.KVOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { kv.Close() })
	r, err := runtime.New(t.Context(), runtime.Options{KV: kv, CacheDir: filepath.Join(filepath.Dir(built.Path), "cache")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(context.Background()) })
	p, err = r.LoadFile(t.Context(), built.Path, runtime.PluginOptions{Grants: runtime.GrantAll(built.Manifest)})
	if err != nil {
		t.Fatal(err)
	}
	return p, dir
}

func bankInput(hook abi.Hook, messages []abi.InputMessage) *abi.Input {
	return &abi.Input{ABI: abi.Version, Call: "c1", Time: "2026-11-21T14:02:05Z", Hook: hook, Session: abi.Session{ID: "s1"}, Messages: messages}
}

func TestZZ(t *testing.T) {
	list, bytes := turns(10_000)
	for _, step := range []int{10_000, 100, 5} {
		p, dir := loadBank(t)
		start := time.Now()
		worst := 0.0
		var last abi.CallStats
		for part := range slices.Chunk(list, step) {
			out, stats, err := p.Call(t.Context(), bankInput(abi.HookPreCompact, part))
			if err != nil {
				t.Fatal(err)
			}
			_ = out
			worst = max(worst, stats.MS)
			last = stats
		}
		t.Log(step, time.Since(start), "worst", worst, last.HostCalls, last.HostCallBytes, last.PeakMemoryBytes>>20, bytes)
		_ = dir
		var times []float64
		var empty []float64
		for i := range 100 {
			q := list[i*97]
			w := strings.Fields(q.Text())
			q.Content = abi.Text(strings.Join(w[:min(8, len(w))], " "))
			_, stats, err := p.Call(t.Context(), bankInput(abi.HookTurnEnd, []abi.InputMessage{q}))
			if err != nil {
				t.Fatal(err)
			}
			times = append(times, stats.MS)
			last = stats
			_, stats, err = p.Call(t.Context(), bankInput(abi.HookTurnEnd, nil))
			empty = append(empty, stats.MS)
		}
		slices.Sort(times)
		slices.Sort(empty)
		t.Log("recall p50", times[50], "p95", times[95], "empty", empty[50], last.HostCalls, last.HostCallBytes, last.PeakMemoryBytes>>20)
	}
}
