//go:build linux || darwin

package host

import (
	"os"

	"golang.org/x/sys/unix"
)

// Map returns n zero bytes outside of Go's heap, which take memory as they are
// written; nil where there is no room for them.
func Map(n int) []byte {
	if n == 0 {
		return nil
	}
	b, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE)
	if err != nil {
		return nil
	}
	return b
}

// MapFile returns the first n bytes of a file, to be read; nil where it cannot be
// mapped. A file that is cut meanwhile faults.
func MapFile(f *os.File, n int) []byte {
	b, err := unix.Mmap(int(f.Fd()), 0, n, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil
	}
	return b
}

// Unmap gives back what Map or MapFile returned. Done twice, it does nothing: the
// package keeps book of what is mapped.
func Unmap(b []byte) { _ = unix.Munmap(b) }
