package transcript

import (
	"bytes"
	"slices"

	"github.com/goccy/go-json"
)

// layout is a region of a source that is a sequence of records: the lines of a
// file, or the elements of a list. It writes the sequence again with records
// taken out, changed and added, and leaves every other byte where it is.
type layout struct {
	data []byte
	// frame is what is written: the file, or the request of a recording.
	frame span
	// region is what the sequence stands in: the text of a file, or what is
	// between the brackets of a list.
	region span
	recs   []span
	// apart is how many of the records, the last ones, do not stand in the
	// region. They are written as elements of the list all the same, between
	// before and after.
	apart         int
	before, after string
	// bare says that the region is a value that a list takes the place of.
	bare bool
	// sep goes between two records that were not neighbours before.
	sep []byte
	// prefix and indent are how the records are indented; pretty is false for
	// records that are written on one line.
	prefix, indent string
	pretty         bool
}

// item is one entry of the sequence to write: record rec with its edits, or,
// where rec is -1, new text.
type item struct {
	rec   int
	edits []edit
	text  []byte
}

// edit replaces the bytes at a place of the source. An empty place inserts.
type edit struct {
	at   span
	text []byte
}

// linesOf is the layout of a file of one record a line.
func linesOf(s *source) layout {
	l := layout{data: s.data, frame: s.frame(), region: span{s.body, len(s.data)}, recs: s.split(0), sep: []byte("\n")}
	if i := bytes.IndexByte(s.data, '\n'); i > 0 && s.data[i-1] == '\r' {
		l.sep = []byte("\r\n")
	}
	return l
}

// listOf is the layout of a list.
func listOf(s *source, list span) layout {
	l := layout{data: s.data, frame: s.frame(), region: span{list.start + 1, list.end - 1}, recs: s.elements(list)}
	if len(l.recs) == 0 {
		l.sep = []byte(",")
		return l
	}
	first := l.recs[0]
	lead := s.data[l.region.start:first.start]
	l.prefix = lastLine(lead)
	if len(l.recs) > 1 {
		l.sep = s.data[first.end:l.recs[1].start]
	} else {
		l.sep = append([]byte(","), lead...)
	}
	inside := s.data[first.start+1 : skipSpace(s.data, first.start+1)]
	if s.data[first.start] == '{' && bytes.IndexByte(inside, '\n') >= 0 {
		l.pretty = true
		l.indent, _ = cutPrefix(lastLine(inside), l.prefix)
	}
	return l
}

// lastLine is what follows the last line end of some white space.
func lastLine(space []byte) string { return string(space[bytes.LastIndexByte(space, '\n')+1:]) }

func cutPrefix(s, prefix string) (string, bool) {
	if len(s) >= len(prefix) && s[:len(prefix)] == prefix {
		return s[len(prefix):], true
	}
	return s, false
}

// style writes compact JSON in the way the records are written.
func (l *layout) style(compact []byte) []byte {
	if !l.pretty {
		return compact
	}
	var buf bytes.Buffer
	if json.Indent(&buf, compact, l.prefix, l.indent) != nil {
		return compact
	}
	return buf.Bytes()
}

// addApart adds records from elsewhere in the source.
func (l *layout) addApart(recs []span, before, after string) {
	l.recs = append(l.recs, recs...)
	l.apart, l.before, l.after = len(recs), before, after
}

// inside is how many records stand in the region.
func (l *layout) inside() int { return len(l.recs) - l.apart }

// write appends the region with the given items to dst.
func (l *layout) write(dst []byte, items []item) []byte {
	n := l.inside()
	switch {
	case l.bare:
		return append(l.between(append(dst, '['), items), ']')
	case len(items) == 0:
		return dst
	case n == 0:
		return l.between(dst, items)
	}
	dst = append(dst, l.data[l.region.start:l.recs[0].start]...)
	dst = l.between(dst, items)
	return append(dst, l.data[l.recs[n-1].end:l.region.end]...)
}

func (l *layout) between(dst []byte, items []item) []byte {
	last := -2
	for i, it := range items {
		switch {
		case i == 0:
		case it.rec >= 0 && it.rec == last+1 && it.rec < l.inside():
			dst = append(dst, l.data[l.recs[last].end:l.recs[it.rec].start]...)
		default:
			dst = append(dst, l.sep...)
		}
		if last = it.rec; it.rec < 0 {
			last = -2
			dst = append(dst, it.text...)
			continue
		}
		if it.rec < l.inside() {
			dst = apply(dst, l.data, l.recs[it.rec], it.edits)
			continue
		}
		dst = apply(append(dst, l.before...), l.data, l.recs[it.rec], it.edits)
		dst = append(dst, l.after...)
	}
	return dst
}

// file writes the frame with the given items in the region, and with edits
// outside of it.
func (l *layout) file(items []item, outside []edit) []byte {
	size := l.frame.end - l.frame.start - (l.region.end - l.region.start)
	for _, it := range items {
		size += len(it.text) + len(l.sep)
		if it.rec >= 0 {
			size += l.recs[it.rec].end - l.recs[it.rec].start
		}
		for _, e := range it.edits {
			size += len(e.text) - (e.at.end - e.at.start)
		}
	}
	lead, tail := span{l.frame.start, l.region.start}, span{l.region.end, l.frame.end}
	dst := make([]byte, 0, size+64)
	dst = apply(dst, l.data, lead, within(outside, lead))
	dst = l.write(dst, items)
	return apply(dst, l.data, tail, within(outside, tail))
}

// apply appends data[at] to dst with the edits made.
func apply(dst, data []byte, at span, edits []edit) []byte {
	slices.SortStableFunc(edits, func(a, b edit) int { return a.at.start - b.at.start })
	pos := at.start
	for _, e := range edits {
		dst = append(dst, data[pos:e.at.start]...)
		dst = append(dst, e.text...)
		pos = e.at.end
	}
	return append(dst, data[pos:at.end]...)
}
