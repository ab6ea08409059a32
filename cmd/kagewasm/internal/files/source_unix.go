//go:build linux || darwin

package files

import (
	"os"

	"golang.org/x/sys/unix"
)

// mapFile returns the first n bytes of a file, to be read; nil where they cannot be mapped.
func mapFile(f *os.File, n int) []byte {
	data, err := unix.Mmap(int(f.Fd()), 0, n, unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		return nil
	}
	return data
}

// forget has the kernel take back the memory of mapped bytes, until they are looked at again.
func forget(data []byte) { _ = unix.Madvise(data, unix.MADV_DONTNEED) }
