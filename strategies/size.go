package strategies

import "github.com/kagewasm/kagewasm/abi"

// Size is what something takes of a request. Bytes are 0 throughout where there
// is no target for them.
type Size struct{ Tokens, Bytes int }

// Plus is the size of both.
func (s Size) Plus(t Size) Size { return Size{s.Tokens + t.Tokens, s.Bytes + t.Bytes} }

// Less is the size without t.
func (s Size) Less(t Size) Size { return Size{s.Tokens - t.Tokens, s.Bytes - t.Bytes} }

func (s Size) within(t Size) bool { return s.Tokens <= t.Tokens && s.Bytes <= t.Bytes }

// noteBytes is what a token of a note takes in bytes, from above: names and
// paths, with their escapes.
const noteBytes = 6

// Fits reports whether the session is within its targets as it is.
func (v *View) Fits() bool { return v.FitsWithout(Size{}, 0) }

// FitsWithout reports whether what stays is within the targets once something
// is gone, with a note of room tokens in its place.
func (v *View) FitsWithout(gone Size, room int) bool {
	return v.all().Less(gone).within(v.beside(room))
}

// beside is what the targets leave beside a note of room tokens.
func (v *View) beside(room int) Size {
	left := Size{Tokens: v.Target - room}
	if v.TargetBytes > 0 {
		left.Bytes = v.TargetBytes - room*noteBytes
	}
	return left
}

// space is what there is for units that may go, beside a note of room tokens.
func (v *View) space(room int) Size { return v.beside(room).Less(v.fixed()) }

// Size is what a unit takes.
func (v *View) Size(u abi.Unit) Size {
	s := Size{Tokens: v.UnitTokens(u)}
	if v.TargetBytes > 0 {
		for _, i := range u {
			s.Bytes += v.Bytes[i]
		}
	}
	return s
}

// all is what the whole request takes.
func (v *View) all() Size {
	s := Size{Tokens: v.Total}
	if v.TargetBytes > 0 {
		s.Bytes = v.TotalBytes
	}
	return s
}

// fixed is what is taken by what cannot go.
func (v *View) fixed() Size {
	s := v.all()
	for _, u := range v.Units {
		if v.Candidate(u) {
			s = s.Less(v.Size(u))
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
