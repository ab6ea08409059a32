package runtime

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapped is an image in a file without a name. To restore it is to map it:
// pages are copied when the guest writes to them, and only those.
type mapped struct {
	fd    int
	bytes int
}

func mapImage(memory []byte) (*mapped, error) {
	fd, err := unix.MemfdCreate("guest", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	m := &mapped{fd, len(memory)}
	if err := unix.Ftruncate(fd, int64(len(memory))); err != nil {
		m.discard()
		return nil, err
	}
	err = eachRun(memory, func(at int, run []byte) error {
		for len(run) > 0 {
			n, err := unix.Pwrite(fd, run, int64(at))
			if err != nil {
				return err
			}
			at, run = at+n, run[n:]
		}
		return nil
	})
	if err != nil {
		m.discard()
		return nil, err
	}
	return m, nil
}

func (m *mapped) size() int { return m.bytes }

func (m *mapped) restore(to *linear) error {
	if to.room.space == nil {
		_, err := unix.Pread(m.fd, to.buf[:m.bytes], 0)
		return err
	}
	to.mapped = true
	_, err := unix.MmapPtr(m.fd, 0, unsafe.Pointer(unsafe.SliceData(to.room.space)), uintptr(m.bytes),
		unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_FIXED|unix.MAP_NORESERVE)
	return err
}

func (m *mapped) discard() { _ = unix.Close(m.fd) }
