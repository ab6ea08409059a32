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
	"strings"
	"sync"

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
	sealed := p != nil
	if !sealed {
		if p, err = prepare(bin, m); err != nil {
			return nil, err
		}
		if err := os.RemoveAll(entry); err != nil {
			return nil, err
		}
	}
	cache, err := wazero.NewCompilationCacheWithDir(entry)
	if err != nil {
		return nil, err
	}
	n, err := newNative(ctx, p, m, false, cache)
	if err != nil {
		_ = os.RemoveAll(entry) // of a module that does not compile, or damaged
		return nil, err
	}
	if !sealed && p.write(entry) == nil {
		// Not sealed is not used: the next load compiles again.
		_ = writeAtomic(filepath.Join(entry, sumFile), sumOf(entry))
	}
	return n, nil
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
