package runtime

// budget is the memory of one call, in bytes: the guest's linear memory and
// what the host holds for it, as one sum. It belongs to the goroutine of the
// call.
type budget struct {
	limit, used, peak int64
	// denied is set once something did not fit. Guests handle that in ways of
	// their own, mostly by a trap; the host then knows why.
	denied bool
}

// take reserves n bytes, or reports false.
func (b *budget) take(n int64) bool {
	if n > b.left() {
		b.denied = true
		return false
	}
	b.used += n
	b.peak = max(b.peak, b.used)
	return true
}

// left is how many bytes can be taken.
func (b *budget) left() int64 { return b.limit - b.used }

func (b *budget) give(n int64) { b.used -= n }
