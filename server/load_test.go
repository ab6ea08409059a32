//go:build unix

package server_test

import (
	"fmt"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/servetest"
	"github.com/kagewasm/kagewasm/internal/service"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/store"
)

// processor is the time that this process has had, server and clients.
func processor() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestLoad measures a server over a SQLite file, with 50 clients: how many appends a second
// it takes at most, how long a context without compaction takes at half of that, and how
// much memory that needs. BENCHMARKS.md has the figures.
func TestLoad(t *testing.T) {
	soak.Only(t, "sessions of hundreds of messages are filled")
	sessions, messages, clients := soak.Count(0, 300, 1000), soak.Count(0, 500, 500), 50
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "sessions.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	server := servetest.StartOver(t, s, &servetest.Host{}, service.Options{})
	key := func(i int) string { return fmt.Sprintf("/sessions/s%04d", i%sessions) }
	words := strings.Repeat("the parser of the ledger keeps its ports ", 12) // some 500 bytes
	var next atomic.Int64
	one := func(n int) map[string]any {
		list := make([]abi.Message, n)
		for i := range list {
			list[i] = abi.Message{Role: []abi.Role{abi.RoleUser, abi.RoleAssistant}[i%2],
				Content: abi.Text(fmt.Sprint(next.Add(1), words))}
		}
		return map[string]any{"messages": list}
	}
	each := func(n int, do func(i int)) time.Duration {
		begun := time.Now()
		var wg sync.WaitGroup
		var turn atomic.Int64
		for range clients {
			wg.Go(func() {
				for i := int(turn.Add(1)) - 1; i < n; i = int(turn.Add(1)) - 1 {
					do(i)
				}
			})
		}
		wg.Wait()
		return time.Since(begun)
	}
	each(sessions, func(i int) {
		server.Must(201, "POST", "/sessions", map[string]any{"id": key(i)[len("/sessions/"):], "context_window": 10_000_000},
			nil)
		server.Must(201, "POST", key(i)+"/messages", one(messages-1), nil)
	})
	appends := soak.Count(0, 1000, 20_000)
	worked := processor()
	took := each(appends, func(i int) { server.Must(201, "POST", key(i)+"/messages", one(1), nil) })
	rate := float64(appends) / took.Seconds()
	perAppend := (processor() - worked) / time.Duration(appends)

	// Half of that, with a context for each append.
	pause := time.Duration(float64(clients) / (rate / 2) * float64(time.Second))
	var mu sync.Mutex
	var times []time.Duration
	each(appends/2, func(i int) {
		begun := time.Now()
		server.Must(201, "POST", key(i)+"/messages", one(1), nil)
		asked := time.Now()
		server.Must(200, "GET", key(i)+"/context", nil, nil)
		took := time.Since(asked)
		mu.Lock()
		times = append(times, took)
		mu.Unlock()
		time.Sleep(pause - time.Since(begun))
	})
	slices.Sort(times)
	goruntime.GC()
	var m goruntime.MemStats
	goruntime.ReadMemStats(&m)
	t.Logf("%d sessions of %d messages, %d clients: %.0f appends/s, %v of processor time each; context at half of that: "+
		"median %v, p99 %v; heap %d MB, from the system %d MB", sessions, messages, clients, rate, perAppend,
		times[len(times)/2], times[len(times)*99/100],
		m.HeapAlloc>>20, m.Sys>>20)
	if open := server.Service.Totals().Open; open > 250 {
		t.Errorf("%d sessions are kept open", open)
	}
}
