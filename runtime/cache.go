package runtime

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"

	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// diskCache keeps compiled modules, each in a folder of its own under the
// digest of the module. A sum of what is in it lies beside: the engine checks
// only part of what it reads, and runs it as machine code. What does not match
// its sum is compiled anew.
type diskCache struct {
	dir   string
	mu    sync.Mutex
	locks map[string]*sync.Mutex // one compilation of a module at a time
}

// rewriteVersion changes whenever prepare gives other bytes for a module.
const rewriteVersion = "4"

// The files of an entry, beside the engine's own.
const (
	sumFile      = "sum"
	preparedFile = "prepared.wasm"
	aboutFile    = "prepared.json"
)

// openCache makes the folder, and refuses one that others can write to.
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
	d := &diskCache{dir: dir, locks: make(map[string]*sync.Mutex)}
	d.sweep()
	return d, nil
}

// compile compiles through the cache. The caller goes on without it where this
// fails.
func (d *diskCache) compile(ctx context.Context, bin []byte, m *wasm.Module, digest string) (*native, error) {
	unlock := d.lock(digest)
	defer unlock()
	entry := filepath.Join(d.dir, rewriteVersion+"-"+strings.TrimPrefix(digest, "sha256:"))
	if n := open(ctx, entry, m); n != nil {
		return n, nil
	}
	p, err := prepare(bin, m)
	if err != nil {
		return nil, err
	}
	// It is made aside: another process may be at the same.
	making, err := os.MkdirTemp(d.dir, makingPrefix)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(making)
	cache, err := wazero.NewCompilationCacheWithDir(making)
	if err != nil {
		return nil, err
	}
	n, err := newNative(ctx, p, m, false, cache)
	if err != nil {
		return nil, err
	}
	if hollow(ctx, making, p) == nil && p.write(making) == nil && os.WriteFile(filepath.Join(making, sumFile), sumOf(making), 0o600) == nil {
		// Where this fails, the next load compiles again.
		_ = os.RemoveAll(entry)
		_ = os.Rename(making, entry)
	}
	return n, nil
}

// makingPrefix is what the names of entries begin with that are being made.
const makingPrefix = "making-"

// sweep removes what processes that were killed have left.
func (d *diskCache) sweep() {
	left, _ := filepath.Glob(filepath.Join(d.dir, makingPrefix+"*"))
	for _, path := range left {
		if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > time.Hour {
			_ = os.RemoveAll(path)
		}
	}
}

// open compiles what an entry has, nil where it has nothing that can be used.
func open(ctx context.Context, entry string, m *wasm.Module) *native {
	sum, err := os.ReadFile(filepath.Join(entry, sumFile))
	if err != nil || !bytes.Equal(sum, sumOf(entry)) {
		return nil
	}
	p := readPrepared(entry, m)
	before := engineFiles(entry)
	cache, err := wazero.NewCompilationCacheWithDir(entry)
	if p == nil || err != nil {
		return nil
	}
	n, err := newNative(ctx, p, m, false, cache)
	if err != nil {
		return nil
	}
	if !slices.Equal(before, engineFiles(entry)) {
		// It did not like what was there, and compiled the husk.
		_ = n.close(ctx)
		return nil
	}
	return n
}

// aboutPrepared is what aboutFile says, as JSON. The data of a detached module
// is in the module itself, which is there at every load.
type aboutPrepared struct {
	Detached bool     `json:"detached"`
	Start    bool     `json:"start"`
	Globals  []string `json:"globals"`
	Stack    uint32   `json:"stack"`
}

func (p *prepared) write(entry string) error {
	about := aboutPrepared{Stack: p.stack}
	if p.boot != nil {
		about.Detached, about.Start, about.Globals = true, p.boot.start, p.boot.globals
	}
	doc, err := json.Marshal(about)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(entry, aboutFile), doc, 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(entry, preparedFile), p.bin, 0o600)
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
		data, err := segmentsOf(m)
		if err != nil {
			return nil
		}
		p.boot = &boot{data: data, start: about.Start, globals: about.Globals}
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

// sumOf lists the files below dir with their digests, the list itself left
// out. It is nil where that fails or there are none.
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
		h := sha256.New()
		if _, err := io.Copy(h, f); err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		fmt.Fprintf(&out, "%s  %s\n", hex.EncodeToString(h.Sum(nil)), filepath.ToSlash(rel))
		return err
	})
	if err != nil || out.Len() == 0 {
		return nil
	}
	return out.Bytes()
}
