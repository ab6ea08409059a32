// Package state finds and opens the folder in which the command keeps what lasts:
// what plugins store, and compiled modules. [Open] opens it, or a stand-in in
// memory.
package state

import (
	"cmp"
	"io"
	"os"
	"path/filepath"
	goruntime "runtime"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/internal/owner"
	"github.com/kagewasm/kagewasm/store/kv"
)

// InMemory as --state keeps nothing.
const InMemory = ":memory:"

// Home is the platform's folder for what programs keep: $XDG_STATE_HOME
// or ~/.local/state, ~/Library/Application Support, %LocalAppData%.
func Home() string {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "kagewasm")
	}
	switch goruntime.GOOS {
	case "windows":
		if dir := os.Getenv("LocalAppData"); dir != "" {
			return filepath.Join(dir, "kagewasm")
		}
		return ""
	case "darwin":
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, "Library", "Application Support", "kagewasm")
		}
		return ""
	}
	if home, err := os.UserHomeDir(); err == nil {
		return filepath.Join(home, ".local", "state", "kagewasm")
	}
	return ""
}

// cacheFolder is where compiled modules are kept.
const cacheFolder = "cache"

// NoHome is the error where there is no folder, and none was named.
func NoHome() error {
	return ui.Usagef("state: this machine names no home folder: give one with --state DIR, or --state %s to keep "+
		"nothing", InMemory)
}

// State holds the storage of plugins and the cache of compiled modules.
type State struct {
	KV       abi.KV // see [Memory]; the database is opened when somebody first asks
	CacheDir string // empty where nothing is kept
	CacheKey []byte // authenticates what is in it
	dir      string // empty where nothing is kept
	closer   io.Closer
}

// Open opens the folder, or an in-memory stand-in. Empty is the platform's, home.
// The folder has to be sealed, see seal; say gets a line where that is done now.
func Open(dir, home string, say func(string)) (*State, error) {
	dir = cmp.Or(dir, home)
	if dir == InMemory {
		return &State{KV: kv.NewMemory(kv.Options{})}, nil
	}
	kv, key, err := open(dir, home, say)
	if err != nil {
		return nil, err
	}
	st := &State{KV: kv, CacheKey: key, dir: dir, closer: kv}
	if key != nil {
		st.CacheDir = filepath.Join(dir, cacheFolder)
	}
	return st, nil
}

func open(dir, home string, say func(string)) (*memory, owner.Key, error) {
	if dir == "" {
		return nil, nil, NoHome()
	}
	key, err := seal(dir, home, say)
	if err != nil {
		return nil, nil, err
	}
	return &memory{dir: dir, say: say}, key, nil
}

// Close ends the use of it.
func (s *State) Close() error {
	if s.closer == nil {
		return nil
	}
	return s.closer.Close()
}
