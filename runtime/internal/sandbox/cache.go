package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/tetratelabs/wazero"

	"github.com/kagewasm/kagewasm/internal/owner"
	"github.com/kagewasm/kagewasm/runtime/internal/host"
	"github.com/kagewasm/kagewasm/runtime/internal/meter"
	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// diskCache keeps compiled modules, each in a folder of its own under the
// digest of the module. What is in it runs as machine code, so a sum with a key
// lies beside; see seal. What does not match its sum is compiled again.
//
// The engine finds compiled code by the bytes of a module, which it decodes and
// validates first: that takes longer than loading the code. So the code is kept
// under the name of a stub module, which has the same shape and no code of its
// own; a function in it says which of the two the engine runs. That the engine
// names its one file of code by the module's bytes is nothing it promises:
// TestCacheFence holds it, and names the version it was read in.
type diskCache struct {
	dir   string
	key   owner.Key
	locks sync.Map // of *sync.Mutex by digest: one compilation of a module at a time
}

// rewriteVersion changes whenever prepare gives other bytes for a module, or
// refuses what it took before. Entries of other versions, and of modules that
// are gone, stay until somebody empties the folder.
const rewriteVersion = "14"

// The files of an entry, beside the engine's own.
const (
	sumFile      = "sum"
	preparedFile = "prepared"
)

// openCache makes the folder, and refuses one that is not the user's alone.
// Without a key it is sealed with one of its own.
func openCache(dir string, key owner.Key) (*diskCache, error) {
	if err := owner.Private(dir); err != nil {
		return nil, err
	}
	var err error
	if key == nil {
		key, err = owner.Read(dir, nil)
	}
	if errors.Is(err, fs.ErrNotExist) {
		key, err = owner.Make(dir, nil)
	}
	return &diskCache{dir: dir, key: key}, err
}

// compile compiles through the cache. The caller goes on without it where this
// fails.
func (d *diskCache) compile(ctx context.Context, bin []byte, p *host.Plugin) (*code, error) {
	lock, _ := d.locks.LoadOrStore(p.Digest, new(sync.Mutex))
	lock.(*sync.Mutex).Lock()
	defer lock.(*sync.Mutex).Unlock()
	entry := filepath.Join(d.dir, rewriteVersion+"-"+strings.TrimPrefix(p.Digest, "sha256:"))
	if ready := d.read(entry, p.Module); ready != nil {
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
		_ = d.seal(entry)
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

// read reads what write wrote for the same module, nil where an entry is not
// there or does not match its sum.
func (d *diskCache) read(entry string, m *wasm.Module) *prepared {
	if !d.sealed(entry) {
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
