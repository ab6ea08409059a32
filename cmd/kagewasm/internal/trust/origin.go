package trust

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
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

// settled is how far apart times are that are one: disks count some in seconds, and
// editors name a file after they wrote it.
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
	case unpacked(t):
		return "by its times it was unpacked or copied here"
	}
	return ""
}

// unpacked reports whether what is in a file is older than the file, or newer than its
// last change: its time was set by whoever brought it.
func unpacked(t times.Timespec) bool {
	written := t.ModTime()
	if t.HasChangeTime() && written.After(t.ChangeTime().Add(settled)) {
		return true
	}
	made, known := born(t)
	return known && written.Before(made.Add(-settled))
}

// born is when a file was made, or else when it was changed last: its mode too. macOS
// moves the time it was made back to a time that is set.
func born(t times.Timespec) (made time.Time, known bool) {
	if t.HasBirthTime() && t.BirthTime().Unix() > 0 && (runtime.GOOS != "darwin" || t.ModTime().After(t.BirthTime())) {
		return t.BirthTime(), true
	}
	if t.HasChangeTime() {
		return t.ChangeTime(), true
	}
	return time.Time{}, false
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
