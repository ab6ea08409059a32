// Package files reads and writes the files that a command line names, standard
// input among them. [CheckOutputs] comes first: nothing is written over what is
// read.
package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/links"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/internal/atomicfile"
	"github.com/kagewasm/kagewasm/internal/owner"
)

// File is a file that a command reads or writes, and what the command calls it.
type File struct{ what, path string }

// Named is a file; what is what the command calls it, such as --out.
func Named(what, path string) File { return File{what, path} }

// CheckOutputs refuses to write over what is read, to write one file twice, and to
// write where no file can be: that should not show only when the work is done. Empty
// paths are files that nobody asked for, and "-" is no file.
func CheckOutputs(reads []File, writes ...File) error {
	for i, w := range writes {
		if err := w.hasPlace(); err != nil {
			return err
		}
		for _, r := range reads {
			if w.same(r) {
				return ui.Usagef("%s %s is %s, which is read: give another file", w.what, w.path, r.what)
			}
		}
		for _, other := range writes[:i] {
			if w.same(other) {
				return ui.Usagef("%s and %s are both %s: give two files", other.what, w.what, w.path)
			}
		}
	}
	return nil
}

// hasPlace refuses a file in a folder that is not there, and a folder itself.
func (f File) hasPlace() error {
	if f.path == "" || f.path == "-" {
		return nil
	}
	if info, err := os.Stat(f.path); err == nil {
		if info.IsDir() {
			return ui.Usagef("%s %s is a folder: give a file", f.what, f.path)
		}
		return nil
	}
	dir := filepath.Dir(f.path)
	switch info, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return ui.Usagef("%s %s: there is no folder %s: make it first", f.what, f.path, dir)
	case err != nil:
		return ui.Usagef("%s %s: %w", f.what, f.path, bare(err))
	case !info.IsDir():
		return ui.Usagef("%s %s: %s is no folder", f.what, f.path, dir)
	}
	return nil
}

func (f File) same(other File) bool {
	named := func(path string) bool { return path != "" && path != "-" }
	return named(f.path) && named(other.path) && sameFile(f.path, other.path)
}

// sameFile reports whether two paths lead to one file, or will once it is there.
func sameFile(a, b string) bool {
	if x, err := links.Target(a); err == nil {
		if y, err := links.Target(b); err == nil && samePath(x, y) {
			return true
		}
	}
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// samePath compares paths as most disks of the system do.
func samePath(a, b string) bool {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return strings.EqualFold(a, b)
	}
	return a == b
}

// Read reads a file, or standard input for "-". Reading what somebody
// types can be interrupted.
func Read(ctx context.Context, stdin io.Reader, path string) ([]byte, error) {
	if path != "-" {
		data, err := os.ReadFile(path)
		return data, badInput(path, err)
	}
	type result struct {
		data []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		data, err := io.ReadAll(stdin)
		done <- result{data, err}
	}()
	select {
	case r := <-done:
		return r.data, badInput("standard input", r.err)
	case <-ctx.Done():
		return nil, &abi.Error{Code: abi.CodeCanceled, Op: "read", Message: ctx.Err().Error(), Err: ctx.Err()}
	}
}

func badInput(path string, err error) error {
	if err == nil {
		return nil
	}
	return &abi.Error{
		Code: abi.CodeBadInput, Op: path, Message: bare(err).Error(), Err: err,
		Hint: "name a file that can be read, or - for standard input",
	}
}

// Write writes a file whole or not at all: a new one beside it takes its place, links
// followed and permissions kept, where the file is the user's own. What is no regular
// file (a device, a pipe) is written to as it is.
func Write(path string, data []byte) error { return writeNew(path, data, 0o666) }

// WriteFor is Write for what was made of another file: nobody may read a new one who may not read that. Of a file that
// is not there it is the user's alone; "-", standard input, says nothing.
func WriteFor(path string, data []byte, of string) error {
	mode := os.FileMode(0o666)
	if of != "-" {
		mode = 0o600
		if info, err := os.Stat(of); err == nil && info.Mode().IsRegular() {
			mode = info.Mode().Perm() & 0o444
			mode |= mode>>1 | 0o600
		}
	}
	return writeNew(path, data, mode)
}

// writeNew writes a file. Mode, less what the umask takes, is that of a new one.
func writeNew(path string, data []byte, mode os.FileMode) error {
	if info, err := os.Stat(path); err == nil {
		if uid, ok := owner.Of(info); !ok || uid == os.Geteuid() {
			mode = info.Mode().Perm()
		}
	}
	return writeAs(path, data, mode)
}

// WritePrivate is Write for what nobody else is to read, whatever the
// permissions were.
func WritePrivate(path string, data []byte) error { return writeAs(path, data, 0o600) }

func writeAs(path string, data []byte, mode os.FileMode) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return writeTo(path, data)
	}
	target, err := links.Target(path)
	if err == nil {
		err = atomicfile.WriteFile(target, data, mode)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, bare(err))
	}
	return nil
}

// writeTo writes to a device or a pipe. What has become a file meanwhile is none.
func writeTo(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case info.Mode().IsRegular():
		err = fmt.Errorf("write %s: it is another file than it was", path)
	default:
		_, err = f.Write(data)
	}
	return errors.Join(err, f.Close())
}

// bare is an error without the path, which the message has already.
func bare(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}
