package rank

// heap holds hits with the best in front: those behind hit i, at 2i+1 and 2i+2,
// come after it.
type heap []Hit

// order makes a heap of hits in any order.
func (h heap) order() {
	for i := len(h)/2 - 1; i >= 0; i-- {
		h.sink(i)
	}
}

// take takes the best out.
func (h *heap) take() Hit {
	list := *h
	best, last := list[0], len(list)-1
	list[0] = list[last]
	*h = list[:last]
	h.sink(0)
	return best
}

func (h heap) sink(i int) {
	for {
		next := 2*i + 1
		if next >= len(h) {
			return
		}
		if next+1 < len(h) && h[next+1].before(h[next]) {
			next++
		}
		if !h[next].before(h[i]) {
			return
		}
		h[i], h[next] = h[next], h[i]
		i = next
	}
}

// before says which of two hits comes first: the better, of equals the earlier.
func (h Hit) before(other Hit) bool {
	return h.Score > other.Score || h.Score == other.Score && h.Text < other.Text
}
