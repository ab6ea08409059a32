//go:build unix

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/daemon"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/state"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/pgtest"
	"github.com/kagewasm/kagewasm/internal/service"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/store"
)

// TestKilledServer: whenever a server is killed under load, every message that it
// acknowledged is there once, no session is half compacted, and the audit log is whole: with
// an end for each compaction that began, where the server has the store for itself.
func TestKilledServer(t *testing.T) {
	features.Proves(t, "N5")
	features.Proves(t, "K15")
	t.Run("SQLite", func(t *testing.T) {
		home := filepath.Join(t.TempDir(), "state")
		killed(t, home, filepath.Join(home, state.SessionsFile), soak.Count(4, 20, 200))
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		address := pgtest.Database(t)
		killed(t, filepath.Join(t.TempDir(), "state"), address, soak.Count(0, 8, 200), "--database", address)
	})
}

func killed(t *testing.T, home, database string, rounds int, flags ...string) {
	dir := t.TempDir()
	flags = append(flags, "--listen", "none", "--no-config")
	var agents []*worker
	for i := range 5 {
		agents = append(agents, &worker{key: fmt.Sprint("s", i)})
	}
	for round := range rounds {
		s := serve(t, home, dir, flags...)
		ctx, stop := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for _, a := range agents {
			wg.Go(func() { a.work(t, ctx, s.Client) })
		}
		time.Sleep(time.Duration(20+rand.IntN(500)) * time.Millisecond)
		_ = s.Process.Kill()
		_ = s.Wait()
		stop()
		wg.Wait()
		s.Client.Close()
		if t.Failed() {
			t.Fatalf("round %d", round)
		}
		checkKilled(t, database, agents)
	}
	serve(t, home, dir, flags...).interrupted(t) // which notes how what was under way has ended
	checkEnds(t, database, len(flags) == 3)
	acked := 0
	for _, a := range agents {
		acked += len(a.acked)
	}
	t.Logf("%d kills, %d messages acknowledged", rounds, acked)
	if acked == 0 {
		t.Error("nothing was acknowledged")
	}
}

// worker is an agent that works on a session of its own, whatever becomes of the server.
type worker struct {
	key   string
	n     int
	acked []string // ids of messages that the server has said it has
	open  []abi.Message
	again string // the key of the request for those
}

// work appends, compacts, asks and goes back until the server is gone.
func (a *worker) work(t *testing.T, ctx context.Context, c *daemon.Client) {
	do := func(method, path string, in, out any) error {
		return c.Do(ctx, method, path, in, out)
	}
	err := do("POST", "/sessions", map[string]any{"id": a.key, "context_window": 1500}, nil)
	for abi.CodeOf(err) == abi.CodeConflict || err == nil {
		var appended service.Appended
		if a.open == nil {
			a.next()
		}
		if appended, err = a.append(ctx, c); err != nil {
			break
		}
		for i, m := range a.open {
			if appended.IDs[i] != m.ID {
				t.Errorf("%s: %v for %s", a.key, appended.IDs, m.ID)
			}
			a.acked = append(a.acked, m.ID)
		}
		a.open = nil
		path := "/sessions/" + a.key
		switch rand.IntN(8) {
		case 0:
			err = do("POST", path+"/compact", map[string]any{}, nil)
		case 1:
			err = do("POST", path+"/undo", nil, nil)
		case 2:
			err = do("POST", path+"/rollback", map[string]any{"to_message": a.acked[rand.IntN(len(a.acked))]}, nil)
		case 3:
			err = do("POST", path+"/redo", nil, nil)
		default:
			err = do("GET", path+"/context", nil, nil)
		}
		if code := abi.CodeOf(err); code == abi.CodeUsage || code == abi.CodeExceedsWindow {
			err = nil // there is nothing to undo
		}
	}
	if code := abi.CodeOf(err); ctx.Err() == nil && code != abi.CodeInternal && code != "" {
		t.Errorf("%s: %v", a.key, err)
	}
}

func (a *worker) next() {
	for range 1 + rand.IntN(4) {
		a.n++
		role := abi.RoleUser
		if a.n%2 == 0 {
			role = abi.RoleAssistant
		}
		a.open = append(a.open, abi.Message{ID: fmt.Sprintf("%s-%d", a.key, a.n), Role: role,
			Content: abi.Text(fmt.Sprintf("message %d of session %s, about port %d of the ledger", a.n, a.key, a.n))})
	}
	a.again = fmt.Sprintf("request %d", a.n)
}

// append sends the messages, with a key: they may have arrived before the server was killed.
func (a *worker) append(ctx context.Context, c *daemon.Client) (out service.Appended, err error) {
	err = c.Do(ctx, http.MethodPost, "/sessions/"+a.key+"/messages", map[string]any{"messages": a.open}, &out,
		"Idempotency-Key", a.again)
	return out, err
}

// checkKilled looks at the store that a killed server has left.
func checkKilled(t *testing.T, database string, agents []*worker) {
	t.Helper()
	s, err := store.Open(t.Context(), database, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, a := range agents {
		one, err := s.Session(t.Context(), a.key)
		if errors.Is(err, store.ErrUnknown) && len(a.acked) == 0 {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, m := range wholeRows(t, s, one).All() {
			if m.Kind != abi.KindSummary {
				ids = append(ids, m.ID)
			}
		}
		may := slices.Clone(a.acked)
		for _, m := range a.open {
			may = append(may, m.ID) // arrived, perhaps, and not acknowledged
		}
		if !slices.Equal(ids, a.acked) && !slices.Equal(ids, may) {
			t.Fatalf("%s has %v, and acknowledged were %v", a.key, ids, a.acked)
		}
	}
	if r, err := s.VerifyAudit(t.Context()); err != nil || len(r.Problems) > 0 {
		t.Fatalf("the audit log: %+v, %v", r, err)
	}
}

// checkEnds checks that the audit log tells of each compaction that is stored, and of the
// end of each that began.
func checkEnds(t *testing.T, database string, all bool) {
	t.Helper()
	s, err := store.Open(t.Context(), database, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	begun, ended, told := make(map[string]int), make(map[string]int), make(map[string]bool)
	err = s.Audit(t.Context(), "", 0, func(a store.Audited) error {
		var e store.AuditEntry
		if err := json.Unmarshal(a.Entry, &e); err != nil {
			return err
		}
		switch e.Type {
		case kagewasm.EventTriggered:
			begun[e.Session]++
		case kagewasm.EventCompleted, kagewasm.EventFailed, kagewasm.EventNoop:
			ended[e.Session]++
			told[e.Compaction] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if !all {
		return
	}
	for key, n := range begun {
		if ended[key] != n {
			t.Errorf("%s: %d compactions began, and %d ended", key, n, ended[key])
		}
		records, err := s.Records(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range records {
			if !told[r.ID] {
				t.Errorf("%s: compaction %s is in no entry", key, r.ID)
			}
		}
	}
}
