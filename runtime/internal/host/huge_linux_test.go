package host

import "testing"

// TestWrittenSoonIsAHint: whatever part of whatever bytes it is told of, they stay what they are, and can be written.
func TestWrittenSoonIsAHint(t *testing.T) {
	WrittenSoon(nil, 0, 0)
	for _, size := range []int{1, hugePage - 1, hugePage, 5*hugePage + 4096} {
		outside := Map(size)
		for _, b := range [][]byte{outside, make([]byte, size)} {
			b[0], b[size-1] = 'a', 'z'
			for _, from := range []int{0, 1, size / 2, size} {
				for _, to := range []int{from, (from + size) / 2, size} {
					WrittenSoon(b, from, to)
				}
			}
			b[size/2]++
			if size > 2 && (b[0] != 'a' || b[size-1] != 'z' || b[size/2] != 1) {
				t.Errorf("%d bytes: %q, %d, %q", size, b[0], b[size/2], b[size-1])
			}
		}
		Unmap(outside)
	}
}
