package host

// Budget is the memory of one call, in bytes: the guest's linear memory and
// what the host holds for it, as one sum. It belongs to the goroutine of the
// call.
type Budget struct {
	Limit, Used, Peak int64
	// Denied is set once something did not fit. Guests handle that in ways of
	// their own, mostly by a trap; the host then knows why.
	Denied bool
}

// Take reserves n bytes, or reports false.
func (b *Budget) Take(n int64) bool {
	if n > b.Left() {
		b.Denied = true
		return false
	}
	b.Used += n
	b.Peak = max(b.Peak, b.Used)
	return true
}

// Left is how many bytes can be taken.
func (b *Budget) Left() int64 { return b.Limit - b.Used }

// Give returns n bytes that were taken.
func (b *Budget) Give(n int64) { b.Used -= n }
