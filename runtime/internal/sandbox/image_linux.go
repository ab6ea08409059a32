package sandbox

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// memoryFile is a file without a name that holds a memory. To restore the memory
// is to map it: pages are copied when the guest writes to them, and only those.
type memoryFile struct {
	fd    int
	ahead ahead
}

// newMemoryFile makes a file of so many bytes with data at an offset.
func newMemoryFile(data []byte, at, size int) (*memoryFile, error) {
	fd, err := unix.MemfdCreate("guest", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	m := &memoryFile{fd: fd}
	err = unix.Ftruncate(m.fd, int64(size))
	for n := 0; err == nil && len(data) > 0; at, data = at+n, data[n:] {
		n, err = unix.Pwrite(m.fd, data, int64(at))
	}
	if err != nil {
		m.close()
		return nil, err
	}
	return m, nil
}

func (m *memoryFile) restore(to *linear, size int) error {
	if to.slot.space == nil {
		_, err := unix.Pread(m.fd, to.buf[:size], 0)
		return err
	}
	to.mapped = true
	_, err := unix.MmapPtr(m.fd, 0, unsafe.Pointer(unsafe.SliceData(to.slot.space)), uintptr(size),
		unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_FIXED|unix.MAP_NORESERVE)
	if err == nil {
		m.ahead.fetch(to.slot.space[:size])
	}
	return err
}

// used looks at a memory that was restored, after its call.
func (m *memoryFile) used(by *linear, size int) {
	if by.mapped {
		m.ahead.learn(by.slot.space[:size])
	}
}

func (m *memoryFile) close() { _ = unix.Close(m.fd) }
