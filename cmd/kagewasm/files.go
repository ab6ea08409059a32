package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/kagewasm/kagewasm/abi"
)

// checkPaths refuses to overwrite what was read.
func (f *compactFlags) checkPaths(in string) error {
	for _, to := range [][2]string{{"--out", f.out}, {"--report", f.report}} {
		flag, path := to[0], to[1]
		if path == "" {
			continue
		}
		if in != "-" && sameFile(in, path) {
			return usagef("%s %s is the input: give another file, the session itself is never changed", flag, path)
		}
		for _, plugin := range f.plugins {
			if sameFile(plugin, path) {
				return usagef("%s %s is a plugin: give another file", flag, path)
			}
		}
	}
	if f.out != "" && f.report != "" && (filepath.Clean(f.out) == filepath.Clean(f.report) || sameFile(f.out, f.report)) {
		return usagef("--out and --report are both %s: give two files", f.out)
	}
	return nil
}

// notOver refuses to write over one of these files, which are read.
func notOver(flag, path string, read ...string) error {
	for _, r := range read {
		if path != "" && r != "" && sameFile(r, path) {
			return usagef("%s %s is what is read: give another file", flag, path)
		}
	}
	return nil
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

// readInput reads a file, or standard input for "-". Reading what somebody
// types can be interrupted.
func readInput(ctx context.Context, e env, path string) ([]byte, error) {
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
		data, err := io.ReadAll(e.stdin)
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

// writeFile writes a file whole or not at all: a new one beside it takes its
// place, links followed and permissions kept. What is no regular file (a
// device, a pipe) is written to as it is.
func writeFile(path string, data []byte) error {
	mode := os.FileMode(0o666) // less what the umask takes
	if info, err := os.Stat(path); err == nil {
		if !info.Mode().IsRegular() {
			return os.WriteFile(path, data, 0)
		}
		mode = info.Mode().Perm()
	}
	path = followed(path)
	tmp := fmt.Sprintf("%s.%d.tmp", path, os.Getpid())
	if err := writeSynced(tmp, data, mode); err != nil {
		os.Remove(tmp)
		return writeError(path, err)
	}
	if err := os.Rename(tmp, path); err != nil {
		os.Remove(tmp)
		return writeError(path, err)
	}
	return nil
}

// writeError speaks of the file that was asked for, not of the one beside it.
func writeError(path string, err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return fmt.Errorf("write %s: %w", path, err)
}

// followed is where a link leads, whether there is a file yet or not.
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

func writeSynced(path string, data []byte, mode os.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	if _, err = f.Write(data); err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}
