package strategies

import "github.com/kagewasm/kagewasm/abi"

// size is what something takes of a request. Bytes are 0 throughout where there
// is no target for them.
type size struct{ tokens, bytes int }

func (s size) within(t size) bool { return s.tokens <= t.tokens && s.bytes <= t.bytes }

func (s size) less(t size) size { return size{s.tokens - t.tokens, s.bytes - t.bytes} }

// noteBytes is what a token of a note takes in bytes, from above: names and
// paths, with their escapes.
const noteBytes = 6

// Fits reports whether the session is within its targets as it is.
func (v *View) Fits() bool {
	return v.Total <= v.Target && (v.TargetBytes <= 0 || v.TotalBytes <= v.TargetBytes)
}

// space is what there is for units that may go, beside a note of room tokens.
func (v *View) space(room int) size {
	left := size{tokens: v.Target - room}
	if v.TargetBytes > 0 {
		left.bytes = v.TargetBytes - room*noteBytes
	}
	return left.less(v.fixed())
}

// size is what a unit takes.
func (v *View) size(u abi.Unit) size {
	s := size{tokens: v.UnitTokens(u)}
	if v.TargetBytes > 0 {
		for _, i := range u {
			s.bytes += v.Bytes[i]
		}
	}
	return s
}

// fixed is what is taken by what cannot go.
func (v *View) fixed() size {
	s := size{tokens: v.Total}
	if v.TargetBytes > 0 {
		s.bytes = v.TotalBytes
	}
	for _, u := range v.Units {
		if v.Candidate(u) {
			s = s.less(v.size(u))
		}
	}
	return s
}

// olderThan reports whether a unit that may go ends before message i.
func (v *View) olderThan(i int) bool {
	for _, u := range v.Units {
		if u[0] >= i {
			return false
		}
		if u[len(u)-1] < i && v.Candidate(u) {
			return true
		}
	}
	return false
}
