package store_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/store"
)

// databases are all that the store can stand on: a function gives the address of a
// new empty one.
var databases = map[string]func(t testing.TB) string{
	"SQLite":     func(t testing.TB) string { return filepath.Join(t.TempDir(), "kagewasm.db") },
	"PostgreSQL": newPostgres,
}

// onAll runs a test on each database. It opens another connection to the database
// with each call of open.
func onAll(t *testing.T, test func(t *testing.T, open func(store.Options) *store.Store)) {
	for name, address := range databases {
		t.Run(name, func(t *testing.T) {
			db := address(t)
			test(t, func(o store.Options) *store.Store { return open(t, db, o) })
		})
	}
}

func open(t testing.TB, database string, o store.Options) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), database, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// server is a PostgreSQL for all tests of the package.
var server struct {
	once    sync.Once
	address string // without a database; empty where there is none
	why     string
	stop    func()
}

func TestMain(m *testing.M) {
	code := m.Run()
	if server.stop != nil {
		server.stop()
	}
	os.Exit(code)
}

// newPostgres makes an empty database on the server that KAGEWASM_POSTGRES names, or
// on one that it starts.
func newPostgres(t testing.TB) string {
	t.Helper()
	if os.Getenv("KAGEWASM_POSTGRES") == "" {
		soak.Only(t, "a server is started")
	}
	server.once.Do(startPostgres)
	if server.address == "" {
		t.Skip("PostgreSQL: " + server.why)
	}
	admin, err := sql.Open("pgx", server.address+"/postgres")
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	name := "kagewasm_" + strings.ToLower(rand.Text())
	if _, err := admin.ExecContext(t.Context(), "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		admin, err := sql.Open("pgx", server.address+"/postgres")
		if err != nil {
			return
		}
		defer admin.Close()
		_, _ = admin.ExecContext(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)")
	})
	return server.address + "/" + name
}

// startPostgres starts a server on a port of its own. It does not run as root, and so
// gets the user postgres where the tests do.
func startPostgres() {
	if address := os.Getenv("KAGEWASM_POSTGRES"); address != "" {
		server.address = strings.TrimSuffix(address, "/")
		return
	}
	if err := start(); err != nil {
		server.why = err.Error()
	}
}

func start() error {
	for _, program := range []string{"initdb", "postgres"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("%s is not installed", program)
		}
	}
	dir, err := os.MkdirTemp("", "postgres-")
	if err != nil {
		return err
	}
	as, err := notRoot(dir)
	if err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	data := filepath.Join(dir, "data")
	initdb := exec.Command("initdb", "-D", data, "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8")
	initdb.SysProcAttr, initdb.Dir = as, dir
	if out, err := initdb.CombinedOutput(); err != nil {
		return errors.Join(fmt.Errorf("initdb: %w: %s", err, out), os.RemoveAll(dir))
	}
	port := strconv.Itoa(20000 + os.Getpid()%40000)
	run := exec.Command("postgres", "-D", data, "-p", port, "-k", dir, "-c", "listen_addresses=127.0.0.1", "-F")
	run.SysProcAttr, run.Dir = as, dir
	if err := run.Start(); err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	server.stop = func() {
		_ = run.Process.Signal(syscall.SIGINT)
		_ = run.Wait()
		_ = os.RemoveAll(dir)
	}
	address := "postgres://postgres@127.0.0.1:" + port
	for range 100 {
		db, err := sql.Open("pgx", address+"/postgres")
		if err != nil {
			return err
		}
		if err = errors.Join(db.Ping(), db.Close()); err == nil {
			server.address = address
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return errors.New("the server does not answer")
}

// notRoot is how a program runs that refuses to as root, which gets the folder.
func notRoot(dir string) (*syscall.SysProcAttr, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, err
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}},
		os.Chown(dir, uid, gid)
}
