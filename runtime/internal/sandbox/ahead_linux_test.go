package sandbox

import (
	"bytes"
	"os"
	"slices"
	"testing"

	"github.com/kagewasm/kagewasm/runtime/internal/host"
)

// TestAhead: what every call wrote is a copy already when a memory is restored, nothing else is, and its bytes are
// those of the image.
func TestAhead(t *testing.T) {
	page := os.Getpagesize()
	data := bytes.Repeat([]byte("seen"), 2*smallImage/4)
	m := newImage(data)
	if m == nil || m.file == nil {
		t.Skip("no memory in a file here")
	}
	defer m.discard()
	restored := func() *linear {
		to := &linear{budget: &host.Budget{Limit: 1 << 30}, most: uint64(len(data))}
		to.Reallocate(uint64(len(data)))
		if err := m.restore(to); err != nil {
			t.Fatal(err)
		}
		return to
	}
	copies := func(of *linear) (pages []int) {
		written, err := writtenPages(of.slot.space[:len(data)])
		if err != nil {
			t.Skip(err)
		}
		for i, in := range written {
			if in {
				pages = append(pages, i)
			}
		}
		return pages
	}
	for call, writes := range [][]int{{3, 4, 9, 63}, {4, 3, 9, 20}, {3, 4, 5, 63}, {9, 4, 3}, {7}, {}} {
		to := restored()
		want := [][]int{4: {3, 4}, 5: {3, 4}}[call]
		if got := copies(to); !slices.Equal(got, want) {
			t.Errorf("call %d begins with the pages %v, not %v", call, got, want)
		}
		if !bytes.Equal(to.buf, data) {
			t.Errorf("call %d begins with other bytes", call)
		}
		for _, p := range writes {
			to.buf[p*page] = 'x'
		}
		m.used(to)
		to.release()
	}
}
