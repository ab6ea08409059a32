package sandbox

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
	"github.com/kagewasm/kagewasm/runtime/internal/host"
	"github.com/kagewasm/kagewasm/runtime/internal/meter"
	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// diskCache keeps compiled modules, each in a folder of its own under the
// digest of the module. A sum of what is in it lies beside: the engine checks
// only part of what it reads, and runs it as machine code. What does not match
// its sum is compiled again.
//
// The engine finds compiled code by the bytes of a module, which it decodes and
// validates first: that takes longer than loading the code. So the code is kept
// under the name of a stub module, which has the same shape and no code of its
// own; a function in it says which of the two the engine runs. That the engine
// names its one file of code by the module's bytes is nothing it promises:
// TestCacheFence holds it, and names the version it was read in.
type diskCache struct {
	dir   string
	locks sync.Map // of *sync.Mutex by digest: one compilation of a module at a time
}

// rewriteVersion changes whenever prepare gives other bytes for a module, or
// refuses what it took before. Entries of other versions, and of modules that
// are gone, stay until somebody empties the folder.
const rewriteVersion = "13"

// The files of an entry, beside the engine's own.
const (
	sumFile      = "sum"
	preparedFile = "prepared"
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
		return nil, fmt.Errorf(
			"%s: others can write to it (mode %v), and what is in it runs as machine code", dir, info.Mode().Perm(),
		)
	}
	if uid, ok := owner.Of(info); ok && uid != os.Geteuid() {
		return nil, fmt.Errorf("%s: somebody else's, and what is in it runs as machine code", dir)
	}
	return &diskCache{dir: dir}, nil
}

// compile compiles through the cache. The caller goes on without it where this
// fails.
func (d *diskCache) compile(ctx context.Context, bin []byte, p *host.Plugin) (*code, error) {
	lock, _ := d.locks.LoadOrStore(p.Digest, new(sync.Mutex))
	lock.(*sync.Mutex).Lock()
	defer lock.(*sync.Mutex).Unlock()
	entry := filepath.Join(d.dir, rewriteVersion+"-"+strings.TrimPrefix(p.Digest, "sha256:"))
	if ready := readEntry(entry, p.Module); ready != nil {
		if n, err := openEntry(ctx, entry, ready, p); err == nil {
			return n, nil
		}
	}
	if err := os.RemoveAll(entry); err != nil {
		return nil, err
	}
	ready, err := prepare(bin, p.Module)
	if err != nil {
		return nil, err
	}
	n, err := openEntry(ctx, entry, ready, p)
	if err != nil {
		_ = os.RemoveAll(entry) // of a module that does not compile
		return nil, err
	}
	// What is not sealed is not used: the next load compiles again.
	if renameToStub(ctx, entry, ready, p) == nil && ready.write(entry) == nil {
		_ = os.WriteFile(filepath.Join(entry, sumFile), sumOf(entry), 0o600)
	}
	return n, nil
}

// openEntry makes code of what is prepared, with the machine code in the entry if
// it is there.
func openEntry(ctx context.Context, entry string, ready *prepared, p *host.Plugin) (*code, error) {
	cache, err := wazero.NewCompilationCacheWithDir(entry)
	if err != nil {
		return nil, err
	}
	n, err := newCode(ctx, ready, p, false, cache)
	if err == nil && ready.init != nil && !n.whole() {
		_ = n.Close(ctx)
		err = errors.New("the engine has not taken the compiled code")
	}
	return n, err
}

// renameToStub makes the entry's code that of the stub module, where the engine
// can tell the two apart without running the guest.
func renameToStub(ctx context.Context, entry string, ready *prepared, p *host.Plugin) error {
	if ready.init == nil {
		return nil
	}
	stub, err := meter.Stub(ready.bin)
	if err != nil {
		return err
	}
	temp := entry + ".stub"
	defer os.RemoveAll(temp)
	cache, err := wazero.NewCompilationCacheWithDir(temp)
	if err != nil {
		return err
	}
	n, err := newCode(ctx, &prepared{bin: stub, init: ready.init}, p, false, cache)
	if err != nil {
		return err
	}
	_ = n.Close(ctx)
	ready.bin = stub
	real, err := codeFile(entry)
	if err != nil {
		return err
	}
	named, err := codeFile(temp)
	if err != nil {
		return err
	}
	return os.Rename(real, filepath.Join(filepath.Dir(real), filepath.Base(named)))
}

// codeFile is the one file that the engine put below a folder.
func codeFile(dir string) (string, error) {
	found, err := filepath.Glob(filepath.Join(dir, "wazero-*", "*"))
	if err == nil && len(found) != 1 {
		err = fmt.Errorf("%s: %d files of the engine, not 1", dir, len(found))
	}
	if err != nil {
		return "", err
	}
	return found[0], nil
}

// preparedHead is the first line of preparedFile, as JSON; the bytes of the
// module follow. The data of a detached module is in the module itself, which is
// there at every load.
type preparedHead struct {
	Detached   bool     `json:"detached"`
	Restorable bool     `json:"restorable"`
	Start      bool     `json:"start"`
	Globals    []string `json:"globals"`
	Stack      uint32   `json:"stack"`
}

func (p *prepared) write(entry string) error {
	head := preparedHead{Stack: p.stack}
	if p.init != nil {
		head = preparedHead{true, p.init.restorable, p.init.start, p.init.globals, p.stack}
	}
	doc, err := json.Marshal(head)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(entry, preparedFile), append(append(doc, '\n'), p.bin...), 0o600)
}

// readEntry reads what write wrote for the same module, nil where an entry is
// not there or does not match its sum.
func readEntry(entry string, m *wasm.Module) *prepared {
	sum, err := os.ReadFile(filepath.Join(entry, sumFile))
	if err != nil || !bytes.Equal(sum, sumOf(entry)) {
		return nil
	}
	doc, err := os.ReadFile(filepath.Join(entry, preparedFile))
	line, bin, ok := bytes.Cut(doc, []byte("\n"))
	var head preparedHead
	if err != nil || !ok || json.Unmarshal(line, &head) != nil {
		return nil
	}
	p := &prepared{bin: bin, stack: head.Stack}
	if head.Detached {
		p.init = &initState{start: head.Start, globals: head.Globals, restorable: head.Restorable}
	}
	if head.Restorable {
		if p.init.data, err = segmentsOf(m); err != nil {
			return nil
		}
	}
	return p
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

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
