package main

import (
	"io"
	"os"
	"path/filepath"
	goruntime "runtime"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/store"
)

// inMemory as --state keeps nothing.
const inMemory = ":memory:"

// stateHome is the platform's folder for what programs keep: $XDG_STATE_HOME
// or ~/.local/state, ~/Library/Application Support, %LocalAppData%.
func stateHome() string {
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

// kvFolder is the folder in a state where plugins keep what they keep.
const kvFolder = "kv"

func noHome() error {
	return ui.Usagef("state: this machine names no home folder: give one with --state DIR, or --state %s to keep nothing", inMemory)
}

// state is where plugins keep what they keep, and compiled modules lie.
type state struct {
	kv       abi.KV
	cacheDir string
	closer   io.Closer
}

// openState opens the folder, or an in-memory stand-in. Empty is the
// platform's.
func openState(dir, home string) (*state, error) {
	if dir == "" {
		dir = home
	}
	if dir == inMemory {
		return &state{kv: store.MemoryKV(store.KVOptions{})}, nil
	}
	if dir == "" {
		return nil, noHome()
	}
	kv, err := openKept(dir)
	if err != nil {
		return nil, err
	}
	return &state{kv: kv, cacheDir: filepath.Join(dir, "cache"), closer: kv}, nil
}

// openKept opens what plugins keep in the folder of a state, and makes both
// where they are not there.
func openKept(dir string) (*store.KV, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, ui.Usagef("state: %w: give another folder with --state DIR, or --state %s to keep nothing", err, inMemory)
	}
	return store.OpenKV(filepath.Join(dir, kvFolder), store.KVOptions{})
}

func (s *state) Close() error {
	if s.closer == nil {
		return nil
	}
	return s.closer.Close()
}
