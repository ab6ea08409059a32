package kv

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"

	"github.com/kagewasm/kagewasm/internal/keypath"
)

var errTooLong = errors.New("file too long")

func isNotDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }

// readFile reads a plain file of at most limit bytes. Anything else under the
// name (a folder, a link, a pipe) is not there.
func readFile(root *os.Root, name string, limit int) ([]byte, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fs.ErrNotExist
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	// All of it in one go, as a file mostly has as many bytes as it says.
	b := make([]byte, min(info.Size(), int64(limit))+1)
	n, err := f.Read(b)
	if b = b[:n]; err == io.EOF {
		return b, nil
	}
	if err == nil && int64(n) != info.Size() {
		var more []byte
		more, err = io.ReadAll(io.LimitReader(f, int64(limit)+1-int64(n)))
		b = append(b, more...)
	}
	if err == nil && len(b) > limit {
		err = errTooLong
	}
	return b, err
}

// readValue reads the file of a key as [readFile] does: what [filePath] names, with one look at it.
func readValue(root *os.Root, key string, limit int) ([]byte, error) {
	name := keypath.Of(key)
	b, err := readFile(root, name, limit)
	if absent(err) && key != name && keypath.Plain(key) {
		return readFile(root, key, limit)
	}
	return b, err
}

// filePath is where the value of a key is or goes: in the file that a person
// named as the key, where there is one and no other.
func filePath(root *os.Root, key string) string {
	name := keypath.Of(key)
	if key != name && keypath.Plain(key) && fileSize(root, name) < 0 && fileSize(root, key) >= 0 {
		return key
	}
	return name
}

// fileSize is the size of a plain file, -1 where there is none.
func fileSize(root *os.Root, name string) int64 {
	info, err := root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return -1
	}
	return info.Size()
}

// count is what a namespace holds now.
func count(ctx context.Context, root *os.Root) (usage, error) {
	var u usage
	err := walk(ctx, root, ".", func(name, key string) error {
		if key == "" {
			u.disk += diskBlock
		} else if size := fileSize(root, name); size >= 0 {
			u = u.after(-1, size)
		}
		return nil
	})
	return u, err
}

// missing are the folders on the way to a file that are not there, the deepest
// first.
func missing(root *os.Root, name string) (folders []string) {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if _, err := root.Lstat(dir); !absent(err) {
			break
		}
		folders = append(folders, dir)
	}
	return folders
}

// walk calls fn for each key below start, and with an empty key for each folder, in
// no order that matters. Files that vanish meanwhile are passed over.
func walk(ctx context.Context, root *os.Root, start string, fn func(name, key string) error) error {
	err := fs.WalkDir(root.FS(), start, func(name string, d fs.DirEntry, err error) error {
		switch {
		case absent(err):
			return nil
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case d.IsDir() && name != "." && strings.Contains(d.Name(), "."):
			return fs.SkipDir // no key's folder has a dot
		case d.IsDir() && name != ".":
			return fn(name, "")
		case !d.Type().IsRegular():
			return nil
		}
		if key, ok := keypath.Key(name); ok && (name == keypath.Of(key) || fileSize(root, keypath.Of(key)) < 0) {
			return fn(name, key)
		}
		return nil
	})
	switch {
	case err == nil, absent(err):
		return nil
	case ctx.Err() != nil:
		return checkCall(ctx, "list", "x", "")
	}
	return kvFault("list", err)
}
