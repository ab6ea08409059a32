package plugins_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/kagewasm/kagewasm/internal/shared"
)

// Client runs the official npm client of Hindsight against the server, and
// decodes what it prints into answer; see testdata/client/client.mjs for what
// it does. It reports false, and says so, where node is not there or the client
// is not installed (npm ci in that folder).
func (s *hindsightServer) Client(tb testing.TB, answer any, args ...string) bool {
	tb.Helper()
	dir := filepath.Join(shared.Root(tb), "plugins", "testdata", "client")
	node, err := exec.LookPath("node")
	if err == nil {
		_, err = os.Stat(filepath.Join(dir, "node_modules", "@vectorize-io", "hindsight-client"))
	}
	if err != nil {
		tb.Logf("going on without the official client: %v", err)
		return false
	}
	c := exec.CommandContext(tb.Context(), node, append([]string{"client.mjs", s.URL, s.Token}, args...)...)
	c.Dir, c.Stderr = dir, os.Stderr
	out, err := c.Output()
	if err == nil {
		err = json.Unmarshal(out, answer)
	}
	if err != nil {
		tb.Fatalf("the official client: %v: %s", err, out)
	}
	return true
}
