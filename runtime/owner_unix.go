//go:build unix

package runtime

import (
	"io/fs"
	"os"
	"syscall"
)

// ownFolder reports whether the folder is the user's that runs this process.
func ownFolder(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(stat.Uid) == os.Geteuid()
}
