package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/owner"
)

// Find looks for a configuration in a folder and in those above it. Where there
// is none, the error is an *abi.Error that wraps fs.ErrNotExist.
//
// A configuration says where sessions and keys are sent. One that nobody named
// is therefore taken only where it belongs to the user who runs the program, or to the system's
// owner: in a folder that others can write to, it could be anybody's.
func Find(dir string) (string, error) {
	from, err := filepath.Abs(dir)
	if err != nil {
		return "", unreadable(dir, err)
	}
	for at := from; ; at = filepath.Dir(at) {
		path := filepath.Join(at, FileName)
		switch info, err := os.Stat(path); {
		case err == nil && !info.Mode().IsRegular():
			return path, unreadable(path, errNotRegular)
		case err == nil && ofOthers(info):
			return path, &abi.Error{Code: abi.CodeBadInput, Op: "config",
				Message: path + ": it belongs to another user, or others can write to it",
				Hint:    "name it with --config to use it all the same"}
		case err == nil:
			return path, nil
		case !errors.Is(err, fs.ErrNotExist):
			return "", unreadable(path, err)
		}
		if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return path, unreadable(path, errDangling)
		}
		if at == filepath.Dir(at) {
			return "", unreadable(FileName, &fs.PathError{Op: "find", Path: from, Err: fs.ErrNotExist})
		}
	}
}

// ofOthers reports whether somebody else can say what stands in a file.
func ofOthers(info fs.FileInfo) bool {
	uid, ok := owner.Of(info)
	return ok && (info.Mode().Perm()&0o002 != 0 || uid != 0 && uid != os.Geteuid())
}
