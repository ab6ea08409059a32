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
	"github.com/kagewasm/kagewasm/store"
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

// KVFolder is the folder in a state where plugins keep what they keep.
const KVFolder = "kv"

// NoHome is the error where there is no folder, and none was named.
func NoHome() error {
	return ui.Usagef("state: this machine names no home folder: give one with --state DIR, or --state %s to keep "+
		"nothing", InMemory)
}

// State holds the storage of plugins and the cache of compiled modules.
type State struct {
	KV       abi.KV
	CacheDir string // empty where nothing is kept
	closer   io.Closer
}

// Open opens the folder, or an in-memory stand-in. Empty is the
// platform's.
func Open(dir, home string) (*State, error) {
	dir = cmp.Or(dir, home)
	if dir == InMemory {
		return &State{KV: store.MemoryKV(store.KVOptions{})}, nil
	}
	if dir == "" {
		return nil, NoHome()
	}
	kv, err := OpenKV(dir)
	if err != nil {
		return nil, err
	}
	return &State{KV: kv, CacheDir: filepath.Join(dir, "cache"), closer: kv}, nil
}

// OpenKV opens what plugins keep in the folder of a state, and makes both
// where they are not there.
func OpenKV(dir string) (*store.KV, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, ui.Usagef("state: %w: give another folder with --state DIR, or --state %s to keep nothing", err, InMemory)
	}
	return store.OpenKV(filepath.Join(dir, KVFolder), store.KVOptions{})
}

// Close ends the use of it.
func (s *State) Close() error {
	if s.closer == nil {
		return nil
	}
	return s.closer.Close()
}
