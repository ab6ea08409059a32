package strategies

import "github.com/kagewasm/kagewasm/abi"

// size is how much of a request something takes. bytes is always 0 where there is no target for bytes.
type size struct{ tokens, bytes int }

func (s size) plus(t size) size   { return size{s.tokens + t.tokens, s.bytes + t.bytes} }
func (s size) less(t size) size   { return size{s.tokens - t.tokens, s.bytes - t.bytes} }
func (s size) within(t size) bool { return s.tokens <= t.tokens && s.bytes <= t.bytes }

// noteBytes is the most bytes that a token of a note takes: names and paths, with their escapes.
const noteBytes = 6

// fitsWithout reports whether what stays is within the targets once gone is removed, with a note of so
// many tokens in its place.
func (v *View) fitsWithout(gone size, note int) bool {
	return v.all().less(gone).within(v.beside(note))
}

// beside returns what the targets leave beside a note of so many tokens.
func (v *View) beside(note int) size {
	left := size{tokens: v.Target - note}
	if v.TargetBytes > 0 {
		left.bytes = v.TargetBytes - note*noteBytes
	}
	return left
}

// size returns what a unit takes.
func (v *View) size(u abi.Unit) size {
	s := size{tokens: v.UnitTokens(u)}
	if v.TargetBytes > 0 {
		for _, i := range u {
			s.bytes += v.Bytes[i]
		}
	}
	return s
}

// all returns what the whole request takes.
func (v *View) all() size {
	s := size{tokens: v.Total}
	if v.TargetBytes > 0 {
		s.bytes = v.TotalBytes
	}
	return s
}

// fixed returns what the messages that cannot go take, with overhead.
func (v *View) fixed() size {
	s := v.all()
	for _, u := range v.Units {
		if v.Candidate(u) {
			s = s.less(v.size(u))
		}
	}
	return s
}
