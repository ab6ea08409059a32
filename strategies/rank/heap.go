package rank

// ranking is a heap of hits, the best in front: see container/heap.
type ranking []Hit

func (r ranking) Len() int      { return len(r) }
func (r ranking) Swap(i, j int) { r[i], r[j] = r[j], r[i] }
func (r *ranking) Push(hit any) { *r = append(*r, hit.(Hit)) }

// Less says which of two hits comes first: the better, of equals the earlier.
func (r ranking) Less(i, j int) bool {
	return r[i].Score > r[j].Score || r[i].Score == r[j].Score && r[i].Text < r[j].Text
}

func (r *ranking) Pop() any {
	last := len(*r) - 1
	hit := (*r)[last]
	*r = (*r)[:last]
	return hit
}
