package memory

import "slices"

// spoken is a message of a person, taken apart.
type spoken struct {
	list  []sentence
	norms []string // of the sentences
	lines int
	items int
}

// listen takes the messages of persons apart, and counts what they say in the
// same words.
func (x *extractor) listen() {
	for i := range x.in.Messages {
		m := &x.in.Messages[i]
		if !m.IsPerson() || len(m.Text()) > maxPastedBytes {
			continue
		}
		s := &spoken{}
		s.list, s.lines = sentences(m.Text())
		if s.lines > maxPasted {
			continue
		}
		for _, one := range s.list {
			norm := normalize(one.text)
			if !slices.Contains(s.norms, norm) {
				x.said[norm]++
			}
			s.norms = append(s.norms, norm)
			if one.item {
				s.items++
			}
		}
		x.spoken[i] = s
	}
}
