package rank

const (
	// reach is how far a text's surroundings go, in texts to either side, and
	// maxReach how far with those that do not count.
	reach    = 2
	maxReach = 4
	// longNear is how long a text of the surroundings counts at most, as many
	// times the average.
	longNear = 2
)

// neighbor is a text near another one, and the share that a word of one has in
// the other.
type neighbor struct {
	text  int32
	share float64
}

// around returns the texts around a text, nearest first to either side. The result is good until the
// next call. A text that says next to nothing, and one that is longer than a part, does not count as a
// step from one to the other: people go on after a nod, and after a page of an answer, with what they
// were at.
func (s *search) around(i int32) []neighbor {
	s.near = s.near[:0]
	if s.opts.Near <= 0 {
		return nil
	}
	for _, step := range [...]int32{-1, 1} {
		share := s.opts.Near
		for j, n, left := i+step, 0, reach; left > 0 && n < maxReach && s.joined(i, j); j, n = j+step, n+1 {
			s.near = append(s.near, neighbor{j, share})
			if t := &s.texts[j]; t.length >= fewTerms && t.parts == 1 {
				share *= s.opts.Near
				left--
			}
		}
	}
	return s.near
}

// joined reports whether there is a text j, in the group of text i.
func (s *search) joined(i, j int32) bool {
	return j >= 0 && int(j) < len(s.texts) && s.texts[j].group == s.texts[i].group
}
