//go:build !unix

package pgtest

import (
	"errors"
	"os"
	"testing"
)

// Main runs the tests of a package.
func Main(m *testing.M) { os.Exit(m.Run()) }

// Close has nothing to end.
func Close() {}

// Database skips the test, unless a server is named.
func Database(t testing.TB) string {
	t.Helper()
	t.Skip("PostgreSQL: tests start servers on Unix alone")
	return ""
}

// Server is none.
type Server struct{ Address string }

// Start skips the test.
func Start(t testing.TB) *Server {
	t.Helper()
	Database(t)
	return nil
}

// Database, Stop and Run are of a server that is never there.
func (s *Server) Database(t testing.TB) string { return Database(t) }
func (s *Server) Stop()                        {}
func (s *Server) Run() error                   { return errors.ErrUnsupported }
