package plug

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/rogpeppe/go-internal/diff"
)

// Step is what becomes of one file. Was and Will are nil where there is none.
type Step struct {
	Path      string
	Was, Will []byte
	// Aside is where a changed file of ours is kept when it goes; empty for nowhere.
	Aside string
	// Kept says that settings stay because they are the user's.
	Kept bool
	// gone says that the file is no part of the installation any more.
	gone bool
	// folder is the folder of ours in which it lies; empty for none.
	folder string
}

// Changes reports whether the step does anything.
func (s *Step) Changes() bool {
	return (s.Was == nil) != (s.Will == nil) || !bytes.Equal(s.Was, s.Will)
}

// Diff is the step as a unified diff.
func (s *Step) Diff() string {
	before, after := s.Path, s.Path
	if s.Was == nil {
		before = os.DevNull
	}
	if s.Will == nil {
		after = os.DevNull
	}
	return string(diff.Diff(before, s.Was, after, s.Will))
}

// read reads a file, and returns nil where there is none.
func read(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return append([]byte{}, data...), nil
}
