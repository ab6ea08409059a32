//go:build unix

// Package pgtest gives tests databases of PostgreSQL: on the server that KAGEWASM_POSTGRES
// names, or on one that it starts for the tests of a package.
package pgtest

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

	_ "github.com/lib/pq" // the driver

	"github.com/kagewasm/kagewasm/internal/soak"
)

// named is the environment variable with the address of a server that runs.
const named = "KAGEWASM_POSTGRES"

// shared is a server for all tests of a package.
var shared struct {
	once   sync.Once
	server *Server
	err    error
}

// Main runs the tests of a package, and ends what [Database] started.
func Main(m *testing.M) {
	code := m.Run()
	Close()
	os.Exit(code)
}

// Close ends what [Database] started, for packages that have a TestMain of their own.
func Close() {
	if shared.server != nil {
		shared.server.remove()
	}
}

// Database makes an empty database, and returns its address. Where there is no server and
// none can be started the test is skipped. The package's TestMain has to
// be [Main], or to call [Close].
func Database(t testing.TB) string {
	t.Helper()
	if address := os.Getenv(named); address != "" {
		return (&Server{Address: strings.TrimSuffix(address, "/")}).Database(t)
	}
	soak.Only(t, "a server of PostgreSQL is started")
	shared.once.Do(func() { shared.server, shared.err = start() })
	if shared.err != nil {
		t.Skip("PostgreSQL: " + shared.err.Error())
	}
	return shared.server.Database(t)
}

// Server is a server that tests may stop.
type Server struct {
	// Address is postgres://USER@HOST:PORT, without a database.
	Address string
	dir     string
	port    string
	run     *exec.Cmd
}

// Start starts a server for one test.
func Start(t testing.TB) *Server {
	t.Helper()
	soak.Only(t, "a server of PostgreSQL is started")
	s, err := start()
	if err != nil {
		t.Skip("PostgreSQL: " + err.Error())
	}
	t.Cleanup(s.remove)
	return s
}

// Database makes an empty database.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	admin, err := sql.Open("postgres", s.Address+"/postgres?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	name := "kagewasm_" + strings.ToLower(rand.Text())
	if _, err := admin.ExecContext(t.Context(), "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		admin, err := sql.Open("postgres", s.Address+"/postgres?sslmode=disable")
		if err != nil {
			return
		}
		defer admin.Close()
		_, _ = admin.ExecContext(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)")
	})
	return s.Address + "/" + name
}

// Stop ends the server at once, with all connections.
func (s *Server) Stop() {
	if s.run != nil {
		_ = s.run.Process.Signal(syscall.SIGINT)
		_ = s.run.Wait()
		s.run = nil
	}
}

func (s *Server) remove() {
	s.Stop()
	_ = os.RemoveAll(s.dir)
}

// start makes a server on a port of its own. It does not run as root, and so gets the
// user postgres where the tests do.
func start() (*Server, error) {
	for _, program := range []string{"initdb", "postgres"} {
		if _, err := exec.LookPath(program); err != nil {
			return nil, fmt.Errorf("%s is not installed", program)
		}
	}
	dir, err := os.MkdirTemp("", "postgres-")
	if err != nil {
		return nil, err
	}
	port := strconv.Itoa(20000 + os.Getpid()%20000)
	if shared.server != nil {
		port = strconv.Itoa(40000 + os.Getpid()%20000)
	}
	s := &Server{dir: dir, port: port, Address: "postgres://postgres@127.0.0.1:" + port}
	as, err := notRoot(dir)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	initdb := exec.Command("initdb", "-D", s.data(), "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8")
	initdb.SysProcAttr, initdb.Dir = as, dir
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("initdb: %w: %s", err, out), os.RemoveAll(dir))
	}
	if err := s.Run(); err != nil {
		s.remove()
		return nil, err
	}
	return s, nil
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// Run starts the server again, with the databases that it had.
func (s *Server) Run() error {
	as, err := notRoot(s.dir)
	if err != nil {
		return err
	}
	s.run = exec.Command("postgres", "-D", s.data(), "-p", s.port, "-k", s.dir, "-c", "listen_addresses=127.0.0.1", "-F")
	s.run.SysProcAttr, s.run.Dir = as, s.dir
	if err := s.run.Start(); err != nil {
		return err
	}
	for range 100 {
		db, err := sql.Open("postgres", s.Address+"/postgres?sslmode=disable")
		if err != nil {
			return err
		}
		if err = errors.Join(db.Ping(), db.Close()); err == nil {
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
