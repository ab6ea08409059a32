package server_test

import (
	"database/sql"
	"encoding/json"
	"path/filepath"
	"sync"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/pgtest"
	"github.com/kagewasm/kagewasm/internal/servetest"
	"github.com/kagewasm/kagewasm/internal/service"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/store"
)

// over is a server over a database, with a session that has messages.
func over(t *testing.T, database string) *servetest.Server {
	t.Helper()
	s, err := store.Open(t.Context(), database, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	started := servetest.StartOver(t, s, &servetest.Host{}, service.Options{})
	started.Must(201, "POST", "/sessions", map[string]any{"id": "a", "context_window": 600}, nil)
	started.Must(201, "POST", "/sessions/a/messages", map[string]any{"messages": servetest.Chat(30)}, nil)
	return started
}

// gone checks that a server says what is wrong while its database does not answer, to
// changes of some paths.
func gone(t *testing.T, s *servetest.Server, paths ...string) {
	t.Helper()
	bodies := map[string]any{"/sessions/a/messages": map[string]any{"messages": servetest.Chat(0)},
		"/sessions/a/compact": map[string]any{}, "/sessions/a/rollback": map[string]any{"to_version": 1},
		"/sessions": map[string]any{}}
	var wg sync.WaitGroup
	for _, path := range paths {
		wg.Go(func() {
			if r := s.Do("POST", path, bodies[path]); r.Status != 503 || r.Code() != abi.CodeState {
				t.Errorf("%s: %d %s", path, r.Status, r.Body)
			}
		})
	}
	wg.Wait()
}

// back checks that all goes on when the database is back, with what was there before and
// nothing of what was refused.
func back(t *testing.T, s *servetest.Server) {
	t.Helper()
	s.Must(201, "POST", "/sessions/a/messages", map[string]any{"messages": servetest.Chat(0)}, nil)
	var list struct{ Messages []abi.Message }
	s.Must(200, "GET", "/sessions/a/messages?include_superseded=true", nil, &list)
	if len(list.Messages) != 64 {
		t.Errorf("%d messages", len(list.Messages))
	}
	var look service.Look
	s.Must(200, "GET", "/sessions/a/context", nil, &look)
	if !look.Report.Compacted {
		t.Error(look.Report.Reason)
	}
	var audit store.AuditReport
	s.Must(200, "GET", "/audit/verify", nil, &audit)
	if len(audit.Problems) != 0 {
		t.Errorf("%+v", audit)
	}
}

// TestPostgresRestarts: a database that goes away is told in words, and all goes on when it
// is back.
func TestPostgresRestarts(t *testing.T) {
	features.Proves(t, "N5")
	db := pgtest.Start(t)
	s := over(t, db.Database(t))
	db.Stop()
	gone(t, s, "/sessions/a/messages", "/sessions/a/compact", "/sessions/a/rollback", "/sessions")
	if err := db.Run(); err != nil {
		t.Fatal(err)
	}
	back(t, s)
}

// TestDatabaseFails: while the database fails, changes and questions are told so with the status 503, as a problem with
// the code state that says what to do, and nothing was done: a turn that could not be ended is open.
func TestDatabaseFails(t *testing.T) {
	features.Proves(t, "N5")
	features.Proves(t, "T3")
	path := filepath.Join(t.TempDir(), "sessions.db")
	s := over(t, path)
	other, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	rename := func(from, to string) {
		t.Helper()
		if _, err := other.ExecContext(t.Context(), "ALTER TABLE "+from+" RENAME TO "+to); err != nil {
			t.Fatal(err)
		}
	}
	turn := begin(s)
	rename("kept", "elsewhere")
	fails := map[string]string{"/sessions/a/turns": "POST", turn: "DELETE", "/sessions/a/compact": "POST",
		"/sessions/a/context": "GET", "/sessions/a/calls": "POST"}
	for path, method := range fails {
		var body any
		if path == "/sessions/a/compact" {
			body = map[string]any{}
		}
		r := s.Do(method, path, body)
		var problem struct{ Detail, Hint string }
		if err := json.Unmarshal(r.Body, &problem); err != nil || r.Status != 503 || r.Code() != abi.CodeState ||
			problem.Detail == "" || problem.Hint == "" || r.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s %s: %d %s", method, path, r.Status, r.Body)
		}
	}
	rename("elsewhere", "kept")
	refuses(s, "in the turn that could not be ended")
	s.Must(200, "DELETE", turn+"?failed=true", nil, nil)
	rename("entries", "elsewhere")
	gone(t, s, "/sessions/a/messages", "/sessions/a/compact", "/sessions/a/rollback")
	rename("elsewhere", "entries")
	back(t, s)
}

// TestSQLiteIsLocked: a file that somebody holds is waited for, then told in words, and all
// goes on when it is free.
func TestSQLiteIsLocked(t *testing.T) {
	features.Proves(t, "N5")
	soak.Only(t, "a lock is waited for, for ten seconds")
	path := filepath.Join(t.TempDir(), "sessions.db")
	s := over(t, path)
	other, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	other.SetMaxOpenConns(1)
	if _, err := other.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	gone(t, s, "/sessions/a/messages", "/sessions")
	if _, err := other.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	back(t, s)
}
