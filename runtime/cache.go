package runtime

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"sync"

	"github.com/tetratelabs/wazero"

	"github.com/kagewasm/kagewasm/internal/owner"
	"github.com/kagewasm/kagewasm/runtime/internal/meter"
	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// diskCache keeps compiled modules, each in a folder of its own under the
// digest of the module. A sum of what is in it lies beside: the engine checks
// only part of what it reads, and runs it as machine code. What does not match
// its sum is compiled anew.
//
// The engine finds compiled code by the bytes of a module, which it decodes and
// validates first: that takes longer than loading the code. So the code is kept
// under the name of the hollow module, which has the same shape and no code of
// its own; a function in it says which of the two the engine runs.
type diskCache struct {
	dir   string
	mu    sync.Mutex
	locks map[string]*sync.Mutex // one compilation of a module at a time
}

// rewriteVersion changes whenever prepare gives other bytes for a module, or
// refuses what it took before. Entries of other versions, and of modules that
// are gone, stay until somebody empties the folder.
const rewriteVersion = "10"

// The files of an entry, beside the engine's own.
const (
	sumFile      = "sum"
	preparedFile = "prepared.wasm"
	aboutFile    = "prepared.json"
)

// openCache makes the folder, and refuses one that others can write to or that
// somebody else made.
func openCache(dir string) (*diskCache, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	if goruntime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0 {
		return nil, fmt.Errorf("%s: others can write to it (mode %v), and what is in it runs as machine code", dir, info.Mode().Perm())
	}
	if uid, ok := owner.Of(info); ok && uid != os.Geteuid() {
		return nil, fmt.Errorf("%s: somebody else's, and what is in it runs as machine code", dir)
	}
	return &diskCache{dir: dir, locks: make(map[string]*sync.Mutex)}, nil
}

// compile compiles through the cache. The caller goes on without it where this
// fails.
func (d *diskCache) compile(ctx context.Context, bin []byte, m *wasm.Module, digest string) (*native, error) {
	unlock := d.lock(digest)
	defer unlock()
	entry := filepath.Join(d.dir, rewriteVersion+"-"+strings.TrimPrefix(digest, "sha256:"))
	sum, err := os.ReadFile(filepath.Join(entry, sumFile))
	var p *prepared
	if err == nil && bytes.Equal(sum, sumOf(entry)) {
		p = readPrepared(entry, m)
	}
	if p != nil {
		if n, err := d.open(ctx, entry, p, m); err == nil {
			return n, nil
		}
	}
	if err := os.RemoveAll(entry); err != nil {
		return nil, err
	}
	if p, err = prepare(bin, m); err != nil {
		return nil, err
	}
	n, err := d.open(ctx, entry, p, m)
	if err != nil {
		_ = os.RemoveAll(entry) // of a module that does not compile
		return nil, err
	}
	if d.hollow(ctx, entry, p, m) == nil && p.write(entry) == nil {
		// Not sealed is not used: the next load compiles again.
		_ = writeAtomic(filepath.Join(entry, sumFile), sumOf(entry))
	}
	return n, nil
}

// open makes an engine of what is prepared, with the code in the entry if it is
// there.
func (d *diskCache) open(ctx context.Context, entry string, p *prepared, m *wasm.Module) (*native, error) {
	cache, err := wazero.NewCompilationCacheWithDir(entry)
	if err != nil {
		return nil, err
	}
	n, err := newNative(ctx, p, m, false, cache)
	if err == nil && p.boot != nil && !n.whole() {
		_ = n.close(ctx)
		err = errors.New("the engine has not taken the compiled code")
	}
	return n, err
}

// hollow makes the entry's code that of the hollow module, where the engine can
// tell the two apart without running the guest.
func (d *diskCache) hollow(ctx context.Context, entry string, p *prepared, m *wasm.Module) error {
	if p.boot == nil {
		return nil
	}
	bin, err := meter.Hollow(p.bin)
	if err != nil {
		return err
	}
	real, err := codeFile(entry)
	if err != nil {
		return err
	}
	empty := entry + ".hollow"
	defer os.RemoveAll(empty)
	cache, err := wazero.NewCompilationCacheWithDir(empty)
	if err != nil {
		return err
	}
	n, err := newNative(ctx, &prepared{bin: bin, boot: p.boot}, m, false, cache)
	if err != nil {
		return err
	}
	_ = n.close(ctx)
	named, err := codeFile(empty)
	if err != nil {
		return err
	}
	p.bin = bin
	return os.Rename(real, filepath.Join(filepath.Dir(real), filepath.Base(named)))
}

// codeFile is the one file that the engine put below a folder.
func codeFile(dir string) (string, error) {
	var found []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			found = append(found, path)
		}
		return err
	})
	if err == nil && len(found) != 1 {
		err = fmt.Errorf("%s: %d files of the engine, not 1", dir, len(found))
	}
	if err != nil {
		return "", err
	}
	return found[0], nil
}

// aboutPrepared is what aboutFile says, as JSON. The data of a detached module
// is in the module itself, which is there at every load.
type aboutPrepared struct {
	Detached   bool     `json:"detached"`
	Restorable bool     `json:"restorable"`
	Start      bool     `json:"start"`
	Globals    []string `json:"globals"`
	Stack      uint32   `json:"stack"`
}

func (p *prepared) write(entry string) error {
	about := aboutPrepared{Stack: p.stack}
	if p.boot != nil {
		about.Detached, about.Restorable = true, p.boot.restorable
		about.Start, about.Globals = p.boot.start, p.boot.globals
	}
	doc, err := json.Marshal(about)
	if err != nil {
		return err
	}
	if err := writeAtomic(filepath.Join(entry, aboutFile), doc); err != nil {
		return err
	}
	return writeAtomic(filepath.Join(entry, preparedFile), p.bin)
}

// readPrepared reads what write wrote for the same module, nil where that
// fails.
func readPrepared(entry string, m *wasm.Module) *prepared {
	doc, err := os.ReadFile(filepath.Join(entry, aboutFile))
	var about aboutPrepared
	if err != nil || json.Unmarshal(doc, &about) != nil {
		return nil
	}
	p := &prepared{stack: about.Stack}
	if p.bin, err = os.ReadFile(filepath.Join(entry, preparedFile)); err != nil {
		return nil
	}
	if about.Detached {
		p.boot = &boot{start: about.Start, globals: about.Globals, restorable: about.Restorable}
	}
	if about.Restorable {
		if p.boot.data, err = segmentsOf(m); err != nil {
			return nil
		}
	}
	return p
}

func (d *diskCache) lock(key string) (unlock func()) {
	d.mu.Lock()
	l, ok := d.locks[key]
	if !ok {
		l = new(sync.Mutex)
		d.locks[key] = l
	}
	d.mu.Unlock()
	l.Lock()
	return l.Unlock
}

// sumOf lists the files below dir with their lengths and checksums, the list
// itself left out. It is nil where that fails or there are none. It is there for
// damage: who can write to the folder could write another list as well.
func sumOf(dir string) []byte {
	var out bytes.Buffer
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name() == sumFile {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		h := crc32.New(castagnoli)
		n, err := io.CopyBuffer(h, struct{ io.Reader }{f}, make([]byte, 1<<20))
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		fmt.Fprintf(&out, "%08x %d %s\n", h.Sum32(), n, filepath.ToSlash(rel))
		return err
	})
	if err != nil || out.Len() == 0 {
		return nil
	}
	return out.Bytes()
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func writeAtomic(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
