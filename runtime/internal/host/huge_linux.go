package host

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

const hugePage = 2 << 20

// WrittenSoon says that b[from:to] is about to be written for the first time: the huge pages that begin there then
// come in one piece each, where the system allows it. They may reach behind to, and not behind b.
func WrittenSoon(b []byte, from, to int) {
	if len(b) == 0 {
		return
	}
	start := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	up := func(n int) int { return n + int(-(start+uintptr(n))%hugePage) }
	if from, to = up(from), min(up(to), up(len(b)-hugePage+1)); from < to {
		_ = unix.Madvise(b[from:to], unix.MADV_HUGEPAGE) // a hint
	}
}
