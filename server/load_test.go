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

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/servetest"
	"github.com/kagewasm/kagewasm/internal/service"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/store"
	"github.com/kagewasm/kagewasm/tokens"
)

// processor is the time that this process has had, server and clients.
func processor() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestLoad measures a server over a SQLite file, with 50 clients and a real tokenizer: how many appends a
// second it takes at most, how many rounds of an agent's loop (an append, then the context), and how long a
// context without compaction takes at half of those, and how much memory that needs. BENCHMARKS.md has the
// figures. Sessions are asked in turn, so that one is never open when it is asked for.
func TestLoad(t *testing.T) {
	soak.Only(t, "sessions of hundreds of messages are filled")
	counter, err := tokens.New(tokens.O200k, tokens.Options{CacheEntries: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	l := newLoad(t, soak.Count(0, 300, 1000), 500, &servetest.Host{Options: kagewasm.Options{Counter: counter}})
	worked := processor()
	appends := soak.Count(0, 1000, 10_000)
	took := l.each(appends, 0, l.append)
	t.Logf("%d sessions of %d messages, %d clients: %.0f appends/s, %v of processor time each", l.sessions, l.messages,
		clients, float64(appends)/took.Seconds(), (processor()-worked)/time.Duration(appends))

	rounds := soak.Count(0, 600, 5000)
	l.each(l.sessions, 0, func(i int) { l.append(i); l.context(i) }) // what was never counted is
	l.times, worked = nil, processor()
	took = l.each(rounds, 0, func(i int) { l.append(i); l.context(i) })
	rate := float64(rounds) / took.Seconds()
	t.Logf("%.0f rounds/s of an append and a context, %v of processor time each; context: %s", rate,
		(processor()-worked)/time.Duration(rounds), l.spread())

	l.times, worked = nil, processor()
	l.each(rounds, time.Duration(2/rate*float64(time.Second)), func(i int) { l.append(i); l.context(i) })
	t.Logf("at half of that: %v of processor time each; context: %s", (processor()-worked)/time.Duration(rounds),
		l.spread())
	goruntime.GC()
	var m goruntime.MemStats
	goruntime.ReadMemStats(&m)
	t.Logf("heap %d MB, from the system %d MB", m.HeapAlloc>>20, m.Sys>>20)
	if open := l.server.Service.Totals().Open; open > 250 {
		t.Errorf("%d sessions are kept open", open)
	}
}

const clients = 50

// load is a server with sessions that are full.
type load struct {
	server             *servetest.Server
	sessions, messages int
	next               atomic.Int64

	mu    sync.Mutex
	times []time.Duration // of contexts
}

func newLoad(t *testing.T, sessions, messages int, host *servetest.Host) *load {
	t.Helper()
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "sessions.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	l := &load{server: servetest.StartOver(t, s, host, service.Options{}), sessions: sessions, messages: messages}
	l.each(sessions, 0, func(i int) {
		l.server.Must(201, "POST", "/sessions", map[string]any{"id": l.key(i)[len("/sessions/"):],
			"context_window": 10_000_000}, nil)
		l.server.Must(201, "POST", l.key(i)+"/messages", l.some(messages-1), nil)
	})
	return l
}

func (l *load) key(i int) string { return fmt.Sprintf("/sessions/s%04d", i%l.sessions) }

func (l *load) some(n int) map[string]any {
	words := strings.Repeat("the parser of the ledger keeps its ports ", 12) // some 500 bytes
	list := make([]abi.Message, n)
	for i := range list {
		list[i] = abi.Message{Role: []abi.Role{abi.RoleUser, abi.RoleAssistant}[i%2],
			Content: abi.Text(fmt.Sprint(l.next.Add(1), words))}
	}
	return map[string]any{"messages": list}
}

func (l *load) append(i int) { l.server.Must(201, "POST", l.key(i)+"/messages", l.some(1), nil) }

func (l *load) context(i int) {
	begun := time.Now()
	l.server.Must(200, "GET", l.key(i)+"/context", nil, nil)
	took := time.Since(begun)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.times = append(l.times, took)
}

// each has the clients do something n times: as fast as they can, or one every so often.
func (l *load) each(n int, every time.Duration, do func(i int)) time.Duration {
	begun := time.Now()
	var wg sync.WaitGroup
	var turn atomic.Int64
	for range clients {
		wg.Go(func() {
			for i := int(turn.Add(1)) - 1; i < n; i = int(turn.Add(1)) - 1 {
				time.Sleep(time.Until(begun.Add(time.Duration(i) * every)))
				do(i)
			}
		})
	}
	wg.Wait()
	return time.Since(begun)
}

// spread says how long contexts took.
func (l *load) spread() string {
	slices.Sort(l.times)
	return fmt.Sprintf("median %v, p99 %v", l.times[len(l.times)/2], l.times[len(l.times)*99/100])
}
