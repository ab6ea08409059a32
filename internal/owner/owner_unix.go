//go:build unix

package owner

import (
	"io/fs"
	"syscall"
)

// Of returns the user id of a file's owner. It is false where the system has none.
func Of(info fs.FileInfo) (uid int, ok bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(stat.Uid), true
}
