package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/kagewasm/kagewasm/abi"
)

// Find looks for a configuration in a folder and in those above it. Where there
// is none, the error is an *abi.Error that wraps fs.ErrNotExist.
//
// A configuration says where sessions and keys are sent. One that nobody named
// is therefore taken only from whoever runs the program, or from the system's
// owner: in a folder that others can write to, it could be anybody's.
func Find(dir string) (string, error) {
	from, err := filepath.Abs(dir)
	if err != nil {
		return "", unreadable(dir, err)
	}
	for at := from; ; at = filepath.Dir(at) {
		path := filepath.Join(at, FileName)
		switch info, err := os.Stat(path); {
		case err == nil:
			return path, found(path, info)
		case !errors.Is(err, fs.ErrNotExist):
			return "", unreadable(path, err)
		}
		if at == filepath.Dir(at) {
			return "", unreadable(FileName, &fs.PathError{Op: "find", Path: from, Err: fs.ErrNotExist})
		}
	}
}

// found says why a file that nobody named is not taken.
func found(path string, info fs.FileInfo) error {
	switch {
	case !info.Mode().IsRegular():
		return unreadable(path, errors.New("not a regular file"))
	case ofOthers(info):
		return &abi.Error{Code: abi.CodeBadInput, Op: "config", Message: path + ": it belongs to another user, or others can write to it",
			Hint: "name it with --config to use it all the same"}
	}
	return nil
}
