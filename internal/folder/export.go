package folder

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/atomicfile"
	"github.com/kagewasm/kagewasm/internal/keypath"
)

// ExportOptions say what Export may do. The zero value writes a new folder.
type ExportOptions struct {
	// Force writes into a folder that holds something: files of the same names
	// are replaced, each in one step, and all others stay.
	Force bool
}

// Export writes every value of a namespace into the folder dir. One that is not
// there, nor perhaps those above it, is made, and is there as a whole or not at
// all; one that is there, or that a link leads to, is written into. One that
// holds something is refused (CodeUsage) without Force. A value that cannot be
// read is skipped, and says why.
func Export(ctx context.Context, kv KV, ns, dir string, o ExportOptions) (*Report, error) {
	r := &Report{Namespace: ns, Dir: dir, Files: []File{}}
	keys, err := kv.List(ctx, ns, "")
	if err != nil {
		return nil, err
	}
	if len(keys) == 0 {
		return nil, usage("nothing is stored under "+ns, "", nil)
	}
	switch held, err := holds(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return r.unless(r.make(ctx, kv, keys, dir))
	case err != nil:
		return nil, err
	case held && !o.Force:
		return nil, usage(dir+": the folder holds something already", "give a folder that is not there yet, "+
			"or --force to replace files of the same names in it and leave the others", nil)
	}
	return r.unless(r.write(ctx, kv, keys, dir))
}

// unless is the report, or the error and none.
func (r *Report) unless(err error) (*Report, error) {
	if err != nil {
		return nil, err
	}
	return r, nil
}

// holds reports whether there is something in a folder. The error is
// fs.ErrNotExist where there is no folder.
func holds(dir string) (bool, error) {
	f, err := os.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if _, lerr := os.Lstat(dir); lerr == nil {
			return false, usage(dir+" is a link that leads nowhere", "give a folder", nil)
		}
		return false, err
	} else if err != nil {
		return false, usage(reason(dir, err), "give another folder", err)
	}
	defer f.Close()
	_, err = f.Readdirnames(1)
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, io.EOF):
		return false, nil
	}
	return false, usage(dir+" is not a folder", "give another name", err)
}

// make writes the values into a folder that is not there: into another one
// beside it, which then gets its name.
func (r *Report) make(ctx context.Context, kv KV, keys []string, dir string) error {
	dir = filepath.Clean(dir)
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return usage(reason(parent, err), "give another folder", err)
	}
	temp := filepath.Join(parent, "."+filepath.Base(dir)+"-"+rand.Text())
	if err := os.Mkdir(temp, 0o700); err != nil {
		return usage(reason(dir, err), "give another folder", err)
	}
	err := r.write(ctx, kv, keys, temp)
	if err == nil {
		if err = os.Rename(temp, dir); err != nil {
			err = fault("export", dir, bare(err))
		}
	}
	if err != nil {
		_ = os.RemoveAll(temp) // made above, under a name of its own
	}
	return err
}

// write writes the values into a folder that is there.
func (r *Report) write(ctx context.Context, kv KV, keys []string, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fault("export", r.Dir, bare(err))
	}
	defer root.Close()
	for _, key := range keys {
		value, found, err := kv.Get(ctx, r.Namespace, key)
		f := File{Name: keypath.Name(key), Key: key, Action: Added, Bytes: int64(len(value))}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			f.Action, f.Key, f.Why = Skipped, "", err.Error()
		case !found:
			continue // deleted meanwhile
		default:
			if f.Action, err = place(root, f.Name, value); err != nil {
				return fault("export", f.Name, bare(err))
			}
		}
		r.Files = append(r.Files, f)
	}
	return nil
}

// place writes a file in one step.
func place(root *os.Root, name, value string) (Action, error) {
	action := Added
	if info, err := root.Lstat(name); err == nil {
		if !info.Mode().IsRegular() {
			return "", errors.New("something that is no plain file stands there")
		}
		action = Replaced
		if there, err := root.ReadFile(name); err == nil && string(there) == value {
			return Unchanged, nil
		}
	}
	return action, atomicfile.Write(root, name, []byte(value), 0o600)
}

func usage(message, hint string, err error) error {
	return &abi.Error{Code: abi.CodeUsage, Op: "export", Message: message, Hint: hint, Err: err}
}

// reason says of a path why it failed, bare without the path: it may be that of
// a file which was to get another name.
func reason(path string, err error) string { return fmt.Sprintf("%s: %v", path, bare(err)) }

func bare(err error) error {
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		return p.Err
	case errors.As(err, &l):
		return l.Err
	}
	return err
}
