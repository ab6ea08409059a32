package trust

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/djherbis/times"

	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/links"
)

// marks are what version control systems leave in a working copy, and what archives
// of one carry.
var marks = []string{
	".git", ".hg", ".svn", ".jj", ".sl", ".bzr", "_darcs", ".pijul", ".fslckout", "_FOSSIL_", "CVS/Root", "_MTN", ".got",
	".repo", ".p4config", "$tf", ".tf", ".plastic", ".osc",
	".git_archival.txt", ".hg_archival.txt", ".gitmodules", ".github", ".hgtags",
}

// settled is how far apart the times of a file are that was written where it lies, at
// most: editors name it and set its mode after they wrote it.
const settled = 2 * time.Second

// origin says in words why a file may be somebody else's; it is empty where nothing
// says so. Every folder above it is looked at, on each way to it.
func origin(file string) string {
	ways, err := links.Ways(file)
	if err != nil {
		return "where it lies cannot be told"
	}
	for _, way := range ways {
		if mark := marked(filepath.Dir(way)); mark != "" {
			return mark
		}
	}
	switch t, err := times.Stat(file); {
	case err != nil:
		return "when it was written cannot be told"
	case t.HasChangeTime() && t.ChangeTime().Sub(t.ModTime()).Abs() > settled:
		return "by its times it was unpacked or copied here"
	}
	return ""
}

// marked says which mark lies in a folder or in one above it.
func marked(dir string) string {
	for ; ; dir = filepath.Dir(dir) {
		for _, name := range marks {
			path := filepath.Join(dir, filepath.FromSlash(name))
			switch _, err := os.Lstat(path); {
			case err == nil:
				return "there is " + path
			case !absent(err):
				return "whether there is " + path + " cannot be told"
			}
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// absent reports that something is not there, or cannot be: below a file.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
