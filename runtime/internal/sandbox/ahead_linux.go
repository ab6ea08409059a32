package sandbox

import (
	"encoding/binary"
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ahead knows the pages of a restored memory that every call writes. They are copied in one go when a memory is
// restored: one by one, as calls come to them, that takes three times as long. What a call sees is the same. It
// learns from the first calls, for which nothing is copied ahead, and a page that one of them left alone stays out.
type ahead struct {
	mu    sync.Mutex
	calls int    // it has learnt from
	runs  []span // of pages; not changed, but replaced
}

// span are pages in a row.
type span struct{ first, end int }

// lessons is how many calls it learns from.
const lessons = 4

// fetch copies the pages of a memory that was just mapped.
func (a *ahead) fetch(space []byte) {
	a.mu.Lock()
	runs, learnt := a.runs, a.calls == lessons
	a.mu.Unlock()
	if !learnt {
		return
	}
	page := os.Getpagesize()
	for _, r := range runs {
		if unix.Madvise(space[r.first*page:r.end*page], unix.MADV_POPULATE_WRITE) != nil {
			return // they come when they are written
		}
	}
}

// learn looks at the memory of a call that is over.
func (a *ahead) learn(space []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.calls == lessons {
		return
	}
	written, err := writtenPages(space)
	if err != nil {
		a.calls, a.runs = lessons, nil // no system that says
		return
	}
	if a.calls++; a.calls > 1 {
		all := written
		written = make([]bool, len(all))
		for _, r := range a.runs {
			copy(written[r.first:r.end], all[r.first:r.end])
		}
	}
	a.runs = runsOf(written)
}

func runsOf(pages []bool) (runs []span) {
	for i, in := range pages {
		switch last := len(runs) - 1; {
		case !in:
		case last >= 0 && runs[last].end == i:
			runs[last].end++
		default:
			runs = append(runs, span{i, i + 1})
		}
	}
	return runs
}

// What the system says of a page in /proc/self/pagemap.
const (
	entryBytes = 8
	present    = 1 << 63
	ofFile     = 1 << 61 // a page of the file that is mapped, not yet a copy
)

// writtenPages are the pages of a private mapping of a file that are copies.
func writtenPages(space []byte) ([]bool, error) {
	f, err := os.Open("/proc/self/pagemap")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	page := os.Getpagesize()
	written := make([]bool, len(space)/page)
	entries := make([]byte, len(written)*entryBytes)
	first := uintptr(unsafe.Pointer(unsafe.SliceData(space))) / uintptr(page)
	if _, err := f.ReadAt(entries, int64(first)*entryBytes); err != nil {
		return nil, err
	}
	for i := range written {
		written[i] = binary.NativeEndian.Uint64(entries[i*entryBytes:])&(present|ofFile) == present
	}
	return written, nil
}
