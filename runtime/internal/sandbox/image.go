package sandbox

import "bytes"

// image is a copy of a guest's memory, to be restored many times, and
// concurrently.
type image struct {
	size int // of the memory, in bytes
	// data is what lies at an offset, all other bytes being zero.
	at   int
	data []byte
	file *memoryFile // has the whole memory, in place of data; nil without
}

const (
	// smallImage is copied faster than it is mapped, in bytes.
	smallImage = 256 << 10
	// maxImage is how much is kept of a plugin between calls, in bytes.
	maxImage = 16 << 20
	// imagePage is the unit in which zeroes are left out.
	imagePage = 4 << 10
)

var zeroPage [imagePage]byte

// newImage copies a memory, in the way that restores best here. It is nil
// where there is too much to copy.
func newImage(memory []byte) *image {
	at, end := 0, len(memory)
	for at < end && [imagePage]byte(memory[at:]) == zeroPage {
		at += imagePage
	}
	for at < end && [imagePage]byte(memory[end-imagePage:]) == zeroPage {
		end -= imagePage
	}
	data := memory[at:end]
	if len(data) > maxImage {
		return nil
	}
	if len(data) > smallImage {
		if file, err := newMemoryFile(data, at, len(memory)); err == nil {
			return &image{size: len(memory), file: file}
		}
	}
	return &image{size: len(memory), at: at, data: bytes.Clone(data)}
}

// restore puts the copy in place of a memory of at least this size, which is all
// zero.
func (m *image) restore(to *linear) error {
	if m.file != nil {
		return m.file.restore(to, m.size)
	}
	copy(to.buf[m.at:], m.data)
	return nil
}

// used looks at a memory that it was restored to, after its call.
func (m *image) used(by *linear) {
	if m != nil && m.file != nil {
		m.file.used(by, m.size)
	}
}

// discard gives back what the image holds. What was restored stays.
func (m *image) discard() {
	if m != nil && m.file != nil {
		m.file.close()
	}
}
