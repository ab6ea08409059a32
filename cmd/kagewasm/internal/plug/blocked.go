package plug

import (
	"os"
	"path/filepath"

	"github.com/kagewasm/kagewasm/abi"
)

// Blocked is the error where a step cannot be carried out: a file is to come below what is no folder, or into one that
// nobody may write to, or one is to change that its owner made read-only. It is asked before the first step, so that
// nothing is done by halves.
func Blocked(steps []Step) error {
	for _, s := range steps {
		if !s.Changes() {
			continue
		}
		if info, err := os.Stat(s.Path); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o200 == 0 {
			return refused(s.Path, "it is read-only", "make it writable", nil)
		}
		path := s.Path
		if target, err := filepath.EvalSymlinks(path); err == nil && s.Will != nil {
			path = target // a link stays, and what it leads to is written
		}
		switch dir, taken := takenFolder(filepath.Dir(path)); {
		case taken && s.Will != nil:
			return refused(s.Path, dir+" is no folder", "move it away", nil)
		case !taken && !writable(dir):
			return refused(s.Path, "the folder "+dir+" is read-only", "make it writable", nil)
		}
	}
	return nil
}

// takenFolder returns the nearest path at or above dir where something stands, and whether that is no
// folder.
func takenFolder(dir string) (at string, taken bool) {
	for ; ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil {
			return dir, !info.IsDir()
		}
		if _, err := os.Lstat(dir); err == nil || filepath.Dir(dir) == dir {
			return dir, err == nil // a link to nothing
		}
	}
}

// refused is the error of a file that is left as it is.
func refused(path, why, fix string, err error) error {
	return &abi.Error{Code: abi.CodeUsage, Message: path + ": " + why, Hint: fix + ", and try again: nothing was changed",
		Err: err}
}
