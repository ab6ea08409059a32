package jsondoc

import (
	"bytes"
	"strings"

	"github.com/goccy/go-json"
)

// Sequence is a region of a source that is a row of records: the lines of a
// file, or the elements of a list.
type Sequence struct {
	Recs []Span

	src *Source
	// frame is what File writes: the file, or a value in it.
	frame  Span
	region Span
	// apart is how many of the records, the last ones, do not stand in the
	// region: see Append.
	apart         int
	before, after string
	// bare says that the region is a value, in whose place a list is written.
	bare bool
	// sep goes between two records that were not neighbours before.
	sep []byte
	// prefix and indent are how the records are indented; pretty is false for
	// records that are written on one line.
	prefix, indent string
	pretty         bool
}

// Item is one record to write: Rec with its edits, or new text where Rec is -1.
type Item struct {
	Rec   int
	Edits []Edit
	Text  []byte
}

// LinesOf is the sequence of a file of one record a line.
func LinesOf(s *Source) Sequence {
	all := Span{0, len(s.Data)}
	q := Sequence{src: s, frame: all, region: Span{s.Text, all.End}, Recs: s.Lines(0), sep: []byte("\n")}
	if i := bytes.IndexByte(s.Data, '\n'); i > 0 && s.Data[i-1] == '\r' {
		q.sep = []byte("\r\n")
	}
	return q
}

// ListOf is the sequence of the elements of a list. frame is the piece of the
// source that is written with it.
func ListOf(s *Source, frame, list Span) Sequence {
	q := Sequence{src: s, frame: frame, region: list.Inner(), Recs: s.Elements(list), sep: []byte(",")}
	if len(q.Recs) == 0 {
		return q
	}
	first := q.Recs[0]
	lead := s.Data[q.region.Start:first.Start]
	q.prefix = lastLine(lead)
	if len(q.Recs) > 1 {
		q.sep = s.Data[first.End:q.Recs[1].Start]
	} else {
		q.sep = append(q.sep, lead...)
	}
	inside := s.Data[first.Start+1 : s.space(first.Start+1)]
	if s.Kind(first) == '{' && bytes.IndexByte(inside, '\n') >= 0 {
		q.pretty = true
		q.indent = strings.TrimPrefix(lastLine(inside), q.prefix)
	}
	return q
}

// ValueOf is the sequence of one record, a value that stands in the place of a
// list. Once it is not the only record, a list of all is written, in which the
// value stands between before and after.
func ValueOf(s *Source, frame, value Span, before, after string) Sequence {
	q := Sequence{src: s, frame: frame, region: value, sep: []byte(","), bare: true}
	q.Append([]Span{value}, before, after)
	return q
}

// Append adds records that stand elsewhere in the source. Each is written as a
// record of this sequence, between before and after.
func (q *Sequence) Append(recs []Span, before, after string) {
	q.Recs = append(q.Recs, recs...)
	q.apart, q.before, q.after = len(recs), before, after
}

// Inside is how many records stand in the region.
func (q *Sequence) Inside() int { return len(q.Recs) - q.apart }

// lastLine is what follows the last line end of some white space.
func lastLine(space []byte) string { return string(space[bytes.LastIndexByte(space, '\n')+1:]) }

// Style writes compact JSON in the way the records are written.
func (q *Sequence) Style(compact []byte) []byte {
	if !q.pretty {
		return compact
	}
	var buf bytes.Buffer
	if json.Indent(&buf, compact, q.prefix, q.indent) != nil {
		return compact
	}
	return buf.Bytes()
}

// Separated writes texts with what stands between two records.
func (q *Sequence) Separated(texts [][]byte) []byte { return bytes.Join(texts, q.sep) }

// Replace is the edit that writes the region with the given items.
func (q *Sequence) Replace(items []Item) Edit { return Edit{q.region, q.write(nil, items)} }

// File writes the frame with the given items in the region, and with edits
// outside of it.
func (q *Sequence) File(items []Item, outside []Edit) []byte {
	lead, tail := Span{q.frame.Start, q.region.Start}, Span{q.region.End, q.frame.End}
	dst := make([]byte, 0, q.size(items, outside))
	dst = q.src.Apply(dst, lead, Within(outside, lead))
	dst = q.write(dst, items)
	return q.src.Apply(dst, tail, Within(outside, tail))
}

// size is about how many bytes File writes: of a long session little may stay.
func (q *Sequence) size(items []Item, outside []Edit) int {
	n := q.frame.End - q.frame.Start - (q.region.End - q.region.Start)
	for _, e := range outside {
		n += len(e.Text)
	}
	for _, it := range items {
		n += len(it.Text) + len(q.sep)
		if it.Rec >= 0 {
			n += q.Recs[it.Rec].End - q.Recs[it.Rec].Start
		}
		for _, e := range it.Edits {
			n += len(e.Text)
		}
	}
	return n
}

// write appends the region with the given items to dst.
func (q *Sequence) write(dst []byte, items []Item) []byte {
	n := q.Inside()
	switch {
	case q.bare:
		return append(q.between(append(dst, '['), items), ']')
	case len(items) == 0:
		return dst
	case n == 0:
		return q.between(dst, items)
	}
	dst = append(dst, q.src.Data[q.region.Start:q.Recs[0].Start]...)
	dst = q.between(dst, items)
	return append(dst, q.src.Data[q.Recs[n-1].End:q.region.End]...)
}

// between appends the items. Records that were neighbours keep what stood
// between them.
func (q *Sequence) between(dst []byte, items []Item) []byte {
	last := -2
	for i, it := range items {
		inside := it.Rec >= 0 && it.Rec < q.Inside()
		switch {
		case i == 0:
		case inside && it.Rec == last+1:
			dst = append(dst, q.src.Data[q.Recs[last].End:q.Recs[it.Rec].Start]...)
		default:
			dst = append(dst, q.sep...)
		}
		last = it.Rec
		switch {
		case it.Rec < 0:
			last = -2
			dst = append(dst, it.Text...)
		case inside:
			dst = q.src.Apply(dst, q.Recs[it.Rec], it.Edits)
		default:
			dst = q.src.Apply(append(dst, q.before...), q.Recs[it.Rec], it.Edits)
			dst = append(dst, q.after...)
		}
	}
	return dst
}

// KeepElements writes a list again with the elements that stay. Edits inside them are
// made.
func (s *Source) KeepElements(list Span, edits []Edit, stays func(k int) bool) Edit {
	q := ListOf(s, list, list)
	var items []Item
	for k, at := range q.Recs {
		if stays(k) {
			items = append(items, Item{Rec: k, Edits: Within(edits, at)})
		}
	}
	return q.Replace(items)
}
