package state

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/store"
)

// SessionsFile is the file in a state where sessions are kept.
const SessionsFile = "sessions.db"

// OpenSessions opens the sessions of a state, and makes what is not there. Empty is the
// platform's folder, home. Like all of a state they have to be the user's own, see seal.
func OpenSessions(ctx context.Context, dir, home string, say func(string)) (*store.Store, error) {
	if dir = cmp.Or(dir, home); dir == "" {
		return nil, NoHome()
	}
	if _, err := seal(dir, home, say); err != nil {
		return nil, err
	}
	return openStore(ctx, dir)
}

// openStore opens the database of a state that is the user's own.
func openStore(ctx context.Context, dir string) (*store.Store, error) {
	if err := lost(dir); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, SessionsFile)
	s, err := store.Open(ctx, path, store.Options{})
	if fault, ok := errors.AsType[*abi.Error](err); ok {
		at := *fault
		at.Op = path
		return nil, &at
	}
	return s, err
}

// ReadSessions is OpenSessions for who makes nothing: it is a usage error where no
// session was ever kept.
func ReadSessions(ctx context.Context, dir, home string, say func(string)) (*store.Store, error) {
	dir = cmp.Or(dir, home)
	if dir == InMemory {
		return nil, ui.Usagef("--state %s keeps nothing: give the folder of a state", InMemory)
	}
	if _, err := os.Stat(filepath.Join(dir, SessionsFile)); dir != "" && errors.Is(err, fs.ErrNotExist) {
		return nil, ui.Usagef("no session is stored in %s: kagewasm compact keeps those that it compacts", dir)
	}
	return OpenSessions(ctx, dir, home, say)
}
