// Package files reads and writes the files that a command line names, standard
// input among them. [CheckOutputs] comes first: nothing is written over what is
// read.
package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/internal/atomicfile"
)

// File is a file that a command reads or writes, and what the command calls it.
type File struct{ what, path string }

// Named is a file; what is what the command calls it, such as --out.
func Named(what, path string) File { return File{what, path} }

// CheckOutputs refuses to write over what is read, and to write one file twice.
// Empty paths are files that nobody asked for, and "-" is no file.
func CheckOutputs(reads []File, writes ...File) error {
	for i, w := range writes {
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

func (f File) same(other File) bool {
	named := func(path string) bool { return path != "" && path != "-" }
	return named(f.path) && named(other.path) && sameFile(f.path, other.path)
}

func sameFile(a, b string) bool {
	if x, err := filepath.Abs(a); err == nil {
		if y, err := filepath.Abs(b); err == nil && x == y {
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

// Read reads a file, or standard input for "-". Reading what somebody
// types can be interrupted.
func Read(ctx context.Context, stdin io.Reader, path string) ([]byte, error) {
	if path != "-" {
		data, err := os.ReadFile(path)
		return data, badInput(err)
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
		return r.data, badInput(r.err)
	case <-ctx.Done():
		return nil, &abi.Error{Code: abi.CodeCanceled, Op: "read", Message: ctx.Err().Error(), Err: ctx.Err()}
	}
}

func badInput(err error) error {
	if err == nil {
		return nil
	}
	return &abi.Error{Code: abi.CodeBadInput, Op: "read", Message: err.Error(), Err: err}
}

// Write writes a file whole or not at all: a new one beside it takes its
// place, links followed and permissions kept. What is no regular file (a
// device, a pipe) is written to as it is.
func Write(path string, data []byte) error {
	mode := os.FileMode(0o666) // less what the umask takes
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	return writeAs(path, data, mode)
}

// WritePrivate is Write for what nobody else is to read, whatever the
// permissions were.
func WritePrivate(path string, data []byte) error { return writeAs(path, data, 0o600) }

func writeAs(path string, data []byte, mode os.FileMode) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return os.WriteFile(path, data, 0)
	}
	if err := atomicfile.WriteFile(followed(path), data, mode); err != nil {
		return writeError(path, err)
	}
	return nil
}

// writeError speaks of the file that was asked for, not of the one beside it.
func writeError(path string, err error) error {
	var p *os.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		err = p.Err
	case errors.As(err, &l):
		err = l.Err
	}
	return fmt.Errorf("write %s: %w", path, err)
}

// followed resolves links, whether the file at their end exists yet or not.
func followed(path string) string {
	for range 40 { // as many as the system follows
		target, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	return path
}
