package folder

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/store"
)

// ExportOptions say what Export may do. The zero value writes a new folder.
type ExportOptions struct {
	// Force writes into a folder that holds something: files of the same names
	// are replaced, each in one step, and all others stay.
	Force bool
}

// Export writes every value of a namespace into the folder dir. A folder that
// is not there, or empty, is there as a whole or not at all. One that holds
// something is refused (CodeUsage) without Force. A value that cannot be read is
// skipped, and says why.
func Export(ctx context.Context, kv KV, ns, dir string, o ExportOptions) (*Report, error) {
	r := &Report{Namespace: ns, Dir: dir, Files: []File{}}
	keys, err := kv.List(ctx, ns, "")
	if err != nil {
		return nil, err
	}
	if len(keys) == 0 {
		return nil, &abi.Error{Code: abi.CodeUsage, Op: "export", Message: fmt.Sprintf("nothing is stored under %s", ns)}
	}
	held, err := holds(dir)
	switch {
	case err != nil:
		return nil, err
	case held && !o.Force:
		return nil, &abi.Error{Code: abi.CodeUsage, Op: "export", Message: dir + ": the folder holds something already",
			Hint: "give a folder that is not there yet, or --force to replace files of the same names in it and leave the others"}
	case held:
		if err := r.write(ctx, kv, keys, dir); err != nil {
			return nil, err
		}
		return r, nil
	}
	dir = filepath.Clean(dir)
	temp := filepath.Join(filepath.Dir(dir), "."+filepath.Base(dir)+"-"+nonce())
	if err := os.Mkdir(temp, 0o700); err != nil {
		return nil, fault("export", dir, err)
	}
	err = r.write(ctx, kv, keys, temp)
	if err == nil {
		_ = os.Remove(dir) // an empty one; some systems do not rename over it
		if err = os.Rename(temp, dir); err != nil {
			err = fault("export", dir, err)
		}
	}
	if err != nil {
		_ = os.RemoveAll(temp) // made above, under a name of its own
		return nil, err
	}
	return r, nil
}

// holds reports whether there is a folder with something in it.
func holds(dir string) (bool, error) {
	f, err := os.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	} else if err != nil {
		return false, fault("export", dir, err)
	}
	defer f.Close()
	_, err = f.Readdirnames(1)
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, io.EOF):
		return false, nil
	}
	return false, &abi.Error{Code: abi.CodeUsage, Op: "export", Message: dir + " is not a folder", Err: err}
}

// write writes the values into a folder that is there.
func (r *Report) write(ctx context.Context, kv KV, keys []string, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fault("export", dir, err)
	}
	defer root.Close()
	for _, key := range keys {
		value, found, err := kv.Get(ctx, r.Namespace, key)
		f := File{Name: store.FileName(key), Key: key, Action: Added, Bytes: int64(len(value))}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			f.Action, f.Key, f.Why = Skipped, "", err.Error()
		case !found:
			continue // deleted meanwhile
		default:
			if f.Action, err = place(root, f.Name, value); err != nil {
				return fault("export", f.Name, err)
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
	folder := path.Dir(name)
	if err := root.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	temp := path.Join(folder, ".tmp-"+nonce())
	err := writeNew(root, temp, value)
	if err == nil {
		err = root.Rename(temp, name)
	}
	if err != nil {
		_ = root.Remove(temp) // the first error says more
	}
	return action, err
}

func writeNew(root *os.Root, name, value string) error {
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, value)
	return errors.Join(err, f.Sync(), f.Close())
}

func nonce() string {
	var id [8]byte
	rand.Read(id[:])
	return hex.EncodeToString(id[:])
}
