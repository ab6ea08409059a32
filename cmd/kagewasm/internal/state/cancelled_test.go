package state_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/state"
	"github.com/kagewasm/kagewasm/internal/features"
)

// TestCancelsAreBounded: what is kept of cancels is kept for 1,000 sessions.
func TestCancelsAreBounded(t *testing.T) {
	features.Proves(t, "O3")
	dir := filepath.Join(t.TempDir(), "state")
	s, err := state.Open(dir, "", func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	counts := s.Cancels()
	of := func(i int) *abi.Session { return &abi.Session{ID: fmt.Sprint(i), AgentPath: "main"} }
	for i := range 1003 {
		if err := counts.SetCancelled(of(i), 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := counts.SetCancelled(of(1002), 2); err != nil {
		t.Fatal(err)
	}
	if list, err := os.ReadDir(filepath.Join(dir, "cancelled")); err != nil || len(list) != 1000 {
		t.Errorf("%d sessions, %v", len(list), err)
	}
	if n, err := counts.Cancelled(of(1002)); n != 2 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if err := counts.SetCancelled(of(1002), 0); err != nil {
		t.Error(err)
	}
	if n, err := counts.Cancelled(of(1002)); n != 0 || err != nil {
		t.Errorf("the row is over: %d, %v", n, err)
	}
}
