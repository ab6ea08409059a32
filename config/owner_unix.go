//go:build unix

package config

import (
	"io/fs"
	"os"
	"syscall"
)

// ofOthers reports whether somebody else can say what stands in a file.
func ofOthers(info fs.FileInfo) bool {
	if info.Mode().Perm()&0o002 != 0 {
		return true
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Uid != 0 && int(st.Uid) != os.Geteuid()
}
