//go:build unix

package plug

import "golang.org/x/sys/unix"

// writable reports whether files can be made in a folder.
func writable(dir string) bool { return unix.Access(dir, unix.W_OK|unix.X_OK) == nil }
