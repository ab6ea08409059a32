package jsondoc

import (
	"slices"

	"github.com/kagewasm/kagewasm/internal/lists"
)

// Edit replaces the bytes at a place of the source. An empty place inserts.
type Edit struct {
	At   Span
	Text []byte
}

// Place is a value that can be replaced, or the place where a field would go
// that is not there yet.
type Place struct {
	At   Span
	Text bool   // the value is a string
	key  string // of a field that is not there yet
}

// Missing reports whether there is no such field yet.
func (p Place) Missing() bool { return p.key != "" }

// Put returns the edit that puts a value there.
func (p Place) Put(value []byte) Edit {
	if p.key == "" {
		return Edit{p.At, value}
	}
	return Edit{p.At, slices.Concat([]byte(","), Quote(p.key), []byte(":"), value)}
}

// Within returns the edits inside a piece of the source.
func Within(edits []Edit, at Span) []Edit {
	return lists.Filter(edits, func(e Edit) bool { return e.At.Start >= at.Start && e.At.End <= at.End })
}

// Apply appends a piece of the source to dst, with the edits made.
func (s *Source) Apply(dst []byte, at Span, edits []Edit) []byte {
	slices.SortStableFunc(edits, func(a, b Edit) int { return a.At.Start - b.At.Start })
	pos := at.Start
	for _, e := range edits {
		dst = append(append(dst, s.Data[pos:e.At.Start]...), e.Text...)
		pos = e.At.End
	}
	return append(dst, s.Data[pos:at.End]...)
}
