package state_test

import (
	"path/filepath"
	"testing"

	"github.com/gofrs/flock"

	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/state"
)

// TestTwoWhoAsk: who asks whether a server runs is not taken for one by somebody who asks too.
func TestTwoWhoAsk(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"serve.lock", "serve-background.lock"} {
		asks := flock.New(filepath.Join(dir, name))
		if ok, err := asks.TryRLock(); !ok || err != nil {
			t.Fatal(ok, err)
		}
		defer asks.Close()
	}
	if state.Taken(dir) || state.Background(dir) {
		t.Error("another one who asks is taken for a server")
	}
	s, err := state.Serve(filepath.Join(t.TempDir(), "state"), "", func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Yield(); err != nil {
		t.Fatal(err)
	}
	if !state.Taken(s.Dir) || !state.Background(s.Dir) {
		t.Error("a server in the background is not seen")
	}
}
