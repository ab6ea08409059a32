package config

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/kagewasm/kagewasm/internal/atomicfile"
	"github.com/kagewasm/kagewasm/internal/yamldoc"
)

// folder reads the files of a project: the configuration and its prompts. Nothing
// outside of it can be reached, by no "..", no absolute path and no link; the
// configuration itself alone may be a link.
type folder struct {
	dir  string
	name string // of the configuration
	root *os.Root
	seen seen
}

// seen is what was read, by its path in the folder: the digest of its bytes, or of
// the error.
type seen map[string][sha256.Size]byte

func openFolder(config string) (*folder, error) {
	dir, name := filepath.Split(filepath.Clean(config))
	dir = filepath.Clean(dir)
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &folder{dir: dir, name: name, root: root, seen: make(seen)}, nil
}

func (f *folder) close() { f.root.Close() }

// configuration is what [folder.read] calls it. No prompt has this name, so none is
// read as freely.
const configuration = ""

// read returns a file, and one byte more than may be at most.
func (f *folder) read(name string) ([]byte, error) {
	fsys, at, most := f.root.FS(), name, int64(maxPrompt)
	if name == configuration {
		fsys, at, most = os.DirFS(f.dir), f.name, yamldoc.MaxBytes
	}
	data, err := readRegular(fsys, at, most)
	f.seen[name] = sha256.Sum256(fmt.Appendf(nil, "%v %s", err, data))
	return data, err
}

var (
	errNotRegular = errors.New("not a regular file")
	errDangling   = errors.New("a link to a file that is not there")
)

func readRegular(fsys fs.FS, name string, most int64) ([]byte, error) {
	info, err := fs.Stat(fsys, name) // before opening: a pipe would wait for its other end
	if err != nil {
		return nil, reason(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	file, err := fsys.Open(name)
	if err != nil {
		return nil, reason(err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, most+1))
	return data, reason(err)
}

// reason is the error without the path, which the message has already.
func reason(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// writeNew writes a file that is not there yet, and reports whether it did.
func writeNew(root *os.Root, name string, data []byte) (bool, error) {
	err := atomicfile.Create(root, name, data, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	return err == nil, err
}
