package bank

import (
	"slices"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/kagewasm/kagewasm/internal/clip"
)

const (
	// MaxTextBytes is how much of a text is kept and searched: what is longer
	// is cut.
	MaxTextBytes = 128 << 10
	// maxField is how long any other field may be, and maxTags how many tags
	// there may be; what is over is cut.
	maxField = 512
	maxTags  = 16
)

// kept is a memory as it is kept: valid text within bounds.
func (m Memory) kept() Memory {
	session, author, text := m.Session, m.Author, m.Text
	for _, f := range []*string{&m.ID, &m.Session, &m.Author, &m.Time, &m.Type} {
		*f = valid(*f, maxField)
	}
	m.Text = valid(m.Text, MaxTextBytes)
	m.Tags = validTags(m.Tags[:min(len(m.Tags), maxTags)])
	if m.Session != session || m.Author != author || m.Text != text {
		m.sum = hash{}
	}
	return m
}

// validTags are tags as they are kept: the same list where they are valid, as nearly all are.
func validTags(tags []string) []string {
	for i, tag := range tags {
		if kept := valid(tag, maxField); kept != tag {
			tags = slices.Clone(tags)
			tags[i] = kept
		}
	}
	return tags
}

// valid is the beginning of s, at most size bytes, as valid text.
func valid(s string, size int) string {
	if s = clip.Head(s, size); utf8.ValidString(s) {
		return s // in half the time
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// label is what many memories have in common.
type label struct {
	author, kind string
	tags         []string
}

func (m *Memory) label() label { return label{m.Author, m.Type, m.Tags} }

func (l *label) set(m *Memory) { m.Author, m.Type, m.Tags = l.author, l.kind, l.tags }

func (l *label) write(w *writer) {
	w.text(l.author)
	w.text(l.kind)
	w.texts(l.tags)
}

func readLabel(r *reader) label { return label{r.text(), r.text(), r.texts()} }

// labelKey is a label as the key of a map.
type labelKey struct{ author, kind, tags string }

func (l *label) key() labelKey {
	var tags writer
	for _, t := range l.tags {
		tags.text(t)
	}
	return labelKey{l.author, l.kind, string(tags)}
}

// words is what a text block holds of a memory; the rest stands in the table
// of its segment.
type words struct{ id, time, text string }

func (w words) set(m *Memory) { m.ID, m.Time, m.Text = w.id, w.time, w.text }

func (m *Memory) words() words { return words{m.ID, m.Time, m.Text} }

// write writes the next memory of the same block and returns it: of the id and
// the time only what is new.
func (before words) write(w *writer, m words) words {
	for _, f := range [2][2]string{{m.id, before.id}, {m.time, before.time}} {
		n := common(f[0], f[1])
		w.number(n)
		w.text(f[0][n:])
	}
	w.text(m.text)
	return m
}

// wordsReader reads what words.write wrote, one memory after the other.
type wordsReader struct {
	*reader
	last words
	made []byte // the fields that were put together, one behind the other
}

// next reads the next memory.
func (w *wordsReader) next() words {
	w.last = words{w.changed(w.last.id), w.changed(w.last.time), w.reader.text()}
	return w.last
}

// changed reads a field of which as much stands there as differs from before. Many do
// not, and many are new from their beginning.
func (w *wordsReader) changed(before string) string {
	n := min(w.below(len(before)+1), len(before))
	rest := w.reader.text()
	switch {
	case rest == "":
		return before[:n]
	case n == 0:
		return rest
	}
	// One allocation for many: what is there is never written again, only what is behind it.
	from := len(w.made)
	w.made = append(append(w.made, before[:n]...), rest...)
	return unsafe.String(&w.made[from], len(w.made)-from)
}

// common is how long a beginning of whole characters a has in common with b.
func common(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return len(clip.Head(a, n))
}
