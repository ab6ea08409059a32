package strategies

// Recent is the end of a session that stays word for word, where it fits. The
// largest of what is set counts; with the zero value everything does.
type Recent struct {
	// Messages at the end, not counting those of kind display_only, bookmark
	// and metadata (FEATURES A3).
	Messages int
	// Tokens at the end, the message that crosses the line included (T1, I2).
	Tokens int
	// Exchanges at the end: a message of a person with all that follows (I2).
	Exchanges int
}

// start is the index of the first message that is recent.
func (r Recent) start(v *View) int {
	if r.Messages <= 0 && r.Tokens <= 0 && r.Exchanges <= 0 {
		return 0
	}
	left := r
	i := len(v.Messages)
	for i > 0 && (left.Messages > 0 || left.Tokens > 0 || left.Exchanges > 0) {
		i--
		m := &v.Messages[i]
		left.Tokens -= v.Tokens[i]
		if !m.Kind.Internal() {
			left.Messages--
		}
		if m.IsPerson() {
			left.Exchanges--
		}
	}
	return i
}

// Count is how many messages that is, without those that do not count.
func (r Recent) Count(v *View) (n int) {
	for i := r.start(v); i < len(v.Messages); i++ {
		if !v.Messages[i].Kind.Internal() {
			n++
		}
	}
	return n
}
