package runtime

import "bytes"

// image is a copy of a guest's memory, to be restored many times, and
// concurrently.
type image interface {
	size() int
	// restore puts the copy in place of a memory of at least this size.
	restore(m *linear) error
	// discard gives back what the image holds. What was restored stays.
	discard()
}

// newImage copies a memory, in the way that restores best here. It is nil
// where there is too much to copy.
func newImage(memory []byte) image {
	filled := 0
	_ = eachRun(memory, func(_ int, b []byte) error { filled += len(b); return nil })
	if filled > maxImage {
		return nil
	}
	if filled > smallImage {
		if m, err := mapImage(memory); err == nil {
			return m
		}
	}
	return copyImage(memory)
}

const (
	// smallImage is copied faster than it is mapped, in bytes.
	smallImage = 256 << 10
	// maxImage is how much is kept of a plugin between calls, in bytes.
	maxImage = 16 << 20
)

// copied is an image on Go's heap: the pages that are not all zero.
type copied struct {
	bytes int
	runs  []run
}

// run is a range of memory.
type run struct {
	at    int
	bytes []byte
}

func copyImage(memory []byte) *copied {
	m := &copied{bytes: len(memory)}
	_ = eachRun(memory, func(at int, b []byte) error {
		m.runs = append(m.runs, run{at, bytes.Clone(b)})
		return nil
	})
	return m
}

func (m *copied) size() int { return m.bytes }

func (m *copied) restore(to *linear) error {
	for _, r := range m.runs {
		copy(to.buf[r.at:], r.bytes)
	}
	return nil
}

func (m *copied) discard() {}

// imagePage is the unit in which zeroes are left out.
const imagePage = 4 << 10

var zeroPage [imagePage]byte

// eachRun calls f for each range of whole pages that are not all zero.
func eachRun(memory []byte, f func(at int, run []byte) error) error {
	for at := 0; at < len(memory); {
		end := at
		for end < len(memory) && [imagePage]byte(memory[end:]) != zeroPage {
			end += imagePage
		}
		if end > at {
			if err := f(at, memory[at:end]); err != nil {
				return err
			}
		}
		at = end + imagePage
	}
	return nil
}
