package rank

import "unsafe"

// room is memory for many short lists and terms, taken from the system in large pieces: most terms stand in a text or
// two, and to allocate the list and the name of each takes longer than to read the words.
type room struct {
	postings []Posting
	bytes    []byte
}

const (
	roomPostings = 512
	roomBytes    = 4 << 10
	// maxShort is how long a list grows here. What it leaves behind is lost.
	maxShort = 2
)

// forOne is a list with room for one more posting.
func (r *room) forOne(list []Posting) []Posting {
	n := len(list)
	if n < cap(list) || n > maxShort/2 {
		return list
	}
	size := max(1, 2*n)
	if size > len(r.postings) {
		r.postings = make([]Posting, roomPostings)
	}
	grown := append(r.postings[:0:size], list...)
	r.postings = r.postings[size:]
	return grown
}

// text is a term that stays.
func (r *room) text(term []byte) string {
	if len(term) > cap(r.bytes)-len(r.bytes) {
		r.bytes = make([]byte, 0, max(roomBytes, len(term)))
	}
	from := len(r.bytes)
	r.bytes = append(r.bytes, term...)
	return unsafe.String(unsafe.SliceData(r.bytes[from:]), len(term))
}
