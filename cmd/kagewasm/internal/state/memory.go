package state

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/internal/atomicfile"
	"github.com/kagewasm/kagewasm/store"
	"github.com/kagewasm/kagewasm/store/kv"
)

// KVFile says in a state where plugins keep what they keep: in the store. In a state of an
// earlier version it is a folder of files, which is moved when a plugin first asks, and
// stays beside it as KVCopy. An earlier version does not start from nothing over the file.
const (
	KVFile = "kv"
	KVCopy = "kv.v0"
)

// What KVFile holds: until something was kept, and from then on.
const (
	nothingKept = "What plugins keep goes to " + SessionsFile + ".\n"
	somethingIs = "What plugins keep is in " + SessionsFile + ".\n"
)

// Memory is what plugins keep.
type Memory interface {
	Get(ctx context.Context, ns, key string) (value string, found bool, err error)
	Set(ctx context.Context, ns, key, value string) error
	Swap(ctx context.Context, ns, key, expect, value string) error
	Delete(ctx context.Context, ns, key string) error
	Apply(ctx context.Context, ns string, changes []kv.Change) error
	List(ctx context.Context, ns, prefix string) ([]string, error)
	Spaces(ctx context.Context) ([]kv.Space, error)
	Close() error
}

// Scrub takes the words of what was deleted out of where a database still has them.
func Scrub(ctx context.Context, m Memory) error {
	if s, ok := m.(interface{ scrub(context.Context) error }); ok {
		return s.scrub(ctx)
	}
	return nil
}

func (t *tables) scrub(ctx context.Context) error { return t.store.Scrub(ctx) }

func (m *memory) scrub(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.store == nil {
		return nil
	}
	return m.store.Scrub(ctx)
}

// memory is that of a state, whose database is opened when somebody first asks.
type memory struct {
	dir   string
	say   func(string)
	mu    sync.Mutex
	given bool // the database is somebody else's
	store *store.Store
	noted bool // that something is kept
}

var _ Memory = (*memory)(nil)

// OpenMemory opens what plugins keep in the folder of a state, and makes both where they
// are not there.
func OpenMemory(dir, home string, say func(string)) (Memory, error) {
	m, _, err := open(dir, home, say)
	if err != nil {
		return nil, err // a nil *memory is none
	}
	return m, nil
}

// MemoryIn is what plugins keep in a store that is open: that of a state folder, or where
// dir is empty another one.
func MemoryIn(s *store.Store, dir string, say func(string)) Memory {
	return &memory{dir: dir, say: say, store: s, given: true, noted: dir == ""}
}

// LookAtMemory opens what plugins keep in a folder to look at it: whoever it belongs to,
// and without making or moving anything. Where nothing is there the error is fs.ErrNotExist.
func LookAtMemory(ctx context.Context, dir string) (Memory, error) {
	path := filepath.Join(dir, KVFile)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) && kept(dir, false) == nil {
		info, err = os.Stat(filepath.Join(dir, SessionsFile)) // who moved it was killed
	}
	switch {
	case err != nil:
		return nil, ui.Usagef("no plugin has kept anything in %s: there is no such state: %w", dir, err)
	case info.IsDir():
		files, err := kv.Open(path, kv.Options{})
		if err != nil {
			return nil, err // a nil *kv.Folder is none
		}
		return files, nil
	}
	if _, err := os.Stat(filepath.Join(dir, SessionsFile)); errors.Is(err, fs.ErrNotExist) {
		if err := lost(dir); err != nil {
			return nil, err
		}
		return nothing{kv.NewMemory(kv.Options{})}, nil
	}
	return OpenTables(ctx, filepath.Join(dir, SessionsFile))
}

// nothing is a Memory without anything in it.
type nothing struct{ *kv.Memory }

// Spaces implements Memory.
func (nothing) Spaces(context.Context) ([]kv.Space, error) { return nil, nil }

// tables is what plugins keep in a database that is opened for them.
type tables struct {
	*kv.Table
	store *store.Store
}

// OpenTables opens what plugins keep in a database.
func OpenTables(ctx context.Context, database string) (Memory, error) {
	s, err := store.Open(ctx, database, store.Options{})
	if err != nil {
		return nil, err
	}
	return &tables{s.Memory(kv.Options{}), s}, nil
}

// Close closes the database.
func (t *tables) Close() error { return t.store.Close() }

// at is where the memory is, once it is opened and moved. Who reads where there is no
// database yet finds nothing, and makes none.
func (m *memory) at(ctx context.Context, write bool) (Memory, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.store == nil {
		_, err := os.Stat(filepath.Join(m.dir, SessionsFile))
		if !write && errors.Is(err, fs.ErrNotExist) && !m.files() {
			return nothing{kv.NewMemory(kv.Options{})}, lost(m.dir)
		}
		if m.store, err = openStore(ctx, m.dir); err != nil {
			return nil, err
		}
	}
	if !m.noted && m.files() {
		if err := m.move(ctx); err != nil {
			return nil, err
		}
	}
	if write && !m.noted {
		if err := note(m.dir); err != nil {
			return nil, err
		}
		m.noted = true
	}
	return m.store.Memory(kv.Options{}), nil
}

// note writes that something is kept.
func note(dir string) error {
	if promised(dir) {
		return nil
	}
	return atomicfile.WriteFile(filepath.Join(dir, KVFile), []byte(somethingIs), 0o600)
}

// promised reports whether something was kept in the store of a state.
func promised(dir string) bool {
	data, _ := os.ReadFile(filepath.Join(dir, KVFile))
	return string(data) == somethingIs
}

// lost is an error where what plugins keep was in a store that is gone.
func lost(dir string) error {
	path := filepath.Join(dir, SessionsFile)
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) || !promised(dir) {
		return nil
	}
	return &abi.Error{
		Code: abi.CodeState, Op: "state", Message: path + " is missing: what plugins keep was there",
		Hint: "restore it from a backup, or start from nothing with kagewasm memory repair",
	}
}

// files reports whether the state has what plugins keep in files.
func (m *memory) files() bool {
	info, err := os.Stat(filepath.Join(m.dir, KVFile))
	return err == nil && info.IsDir()
}

// move moves what plugins keep from files into the store. Whoever is killed on the way has
// moved nothing, or all of it: the next one goes on, and of two at a time one does it.
func (m *memory) move(ctx context.Context) error {
	path, kept := filepath.Join(m.dir, KVFile), filepath.Join(m.dir, KVCopy)
	if _, err := os.Lstat(kept); err == nil && m.files() { // in this order: somebody else may just move it
		return &abi.Error{Code: abi.CodeState, Op: "state", Message: fmt.Sprintf("%s is a folder, and what plugins keep "+
			"was moved from one before, of which %s is the copy", path, kept), Hint: "take the folder away, and import what " +
			"it holds with kagewasm memory import PLUGIN " + path + "/PLUGIN"}
	}
	moved, err := m.copyFiles(ctx, path)
	if err == nil {
		err = putAside(m.dir)
	}
	if err != nil && m.files() { // otherwise somebody else was faster
		return unusable(err)
	}
	if err := mark(m.dir); err != nil {
		return err
	}
	switch {
	case moved.Values+len(moved.Left) == 0:
		_ = os.RemoveAll(kept) // a copy of nothing
	case len(moved.Left) > 0:
		m.say(fmt.Sprintf("state: what plugins keep was moved to %s, but for %s, of which the first is %s: the files of "+
			"before are in %s", SessionsFile, ui.Plural(len(moved.Left), "file"), moved.Left[0], kept))
	default:
		m.say(fmt.Sprintf("state: what plugins keep, %s, was moved to %s; the files of before are in %s, and can be deleted",
			ui.Plural(moved.Values, "value"), SessionsFile, kept))
	}
	return nil
}

// putAside gives the folder of files its other name.
func putAside(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.Rename(KVFile, KVCopy); err != nil {
		return err
	}
	atomicfile.SyncFolder(root, ".")
	return nil
}

func (m *memory) copyFiles(ctx context.Context, path string) (moved kv.Moved, err error) {
	from, err := kv.Open(path, kv.Options{})
	if err != nil {
		return moved, err
	}
	moved, err = from.MoveTo(ctx, m.store.Memory(kv.Options{}), m.files)
	return moved, errors.Join(err, from.Close())
}

// mark writes KVFile where nothing stands there. A state that has its copy has kept
// something.
func mark(dir string) error {
	path := filepath.Join(dir, KVFile)
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	says := nothingKept
	if _, err := os.Lstat(filepath.Join(dir, KVCopy)); err == nil {
		says = somethingIs
	}
	return atomicfile.WriteFile(path, []byte(says), 0o600)
}

// Get implements Memory.
func (m *memory) Get(ctx context.Context, ns, key string) (string, bool, error) {
	at, err := m.at(ctx, false)
	if err != nil {
		return "", false, err
	}
	return at.Get(ctx, ns, key)
}

// Set implements Memory.
func (m *memory) Set(ctx context.Context, ns, key, value string) error {
	return m.change(ctx, func(at Memory) error { return at.Set(ctx, ns, key, value) })
}

// Swap implements Memory.
func (m *memory) Swap(ctx context.Context, ns, key, expect, value string) error {
	return m.change(ctx, func(at Memory) error { return at.Swap(ctx, ns, key, expect, value) })
}

// Delete implements Memory.
func (m *memory) Delete(ctx context.Context, ns, key string) error {
	return m.change(ctx, func(at Memory) error { return at.Delete(ctx, ns, key) })
}

// Apply implements Memory.
func (m *memory) Apply(ctx context.Context, ns string, changes []kv.Change) error {
	return m.change(ctx, func(at Memory) error { return at.Apply(ctx, ns, changes) })
}

func (m *memory) change(ctx context.Context, do func(Memory) error) error {
	at, err := m.at(ctx, true)
	if err != nil {
		return err
	}
	return do(at)
}

// List implements Memory.
func (m *memory) List(ctx context.Context, ns, prefix string) ([]string, error) {
	at, err := m.at(ctx, false)
	if err != nil {
		return nil, err
	}
	return at.List(ctx, ns, prefix)
}

// Spaces implements Memory.
func (m *memory) Spaces(ctx context.Context) ([]kv.Space, error) {
	at, err := m.at(ctx, false)
	if err != nil {
		return nil, err
	}
	return at.Spaces(ctx)
}

// Close implements Memory.
func (m *memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.store == nil || m.given {
		return nil
	}
	return m.store.Close()
}
