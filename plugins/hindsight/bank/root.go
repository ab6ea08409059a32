package bank

import (
	"errors"
	"strings"

	"github.com/kagewasm/kagewasm/internal/sealed"
)

// root names what is valid. What it does not name is not there.
type root struct {
	generation int
	segments   []segment
	garbage    []garbage
	tail       []Memory // the newest, which are in no segment yet
}

// garbage are values that a generation named last.
type garbage struct {
	generation int
	names      []string
}

const (
	rootMagic = "bank1 "
	maxTexts  = 1 << 26
)

func (r *root) write() string {
	w := writer(rootMagic)
	w.number(r.generation)
	w.number(len(r.segments))
	for _, s := range r.segments {
		w = append(append(w, s.table...), s.known...)
		w.number(s.texts)
		w.number(s.weight)
	}
	w.number(len(r.garbage))
	for _, g := range r.garbage {
		w.number(g.generation)
		w.number(len(g.names))
		for _, n := range g.names {
			w = append(w, n...)
		}
	}
	var t who
	for i := range r.tail {
		t.add(r.tail[i].Session, r.tail[i].label())
	}
	t.write(&w)
	var before words
	for i := range r.tail {
		before = before.write(&w, r.tail[i].words())
	}
	return string(w)
}

// openRoot reads a root as it is stored: with a generation and a checksum, unless
// an earlier version wrote it.
func openRoot(stored string) (*root, error) {
	if strings.HasPrefix(stored, rootMagic) {
		return readRoot(stored)
	}
	value, generation, err := sealed.Read(stored)
	if err != nil {
		return nil, err
	}
	r, err := readRoot(value)
	if err == nil && r.generation != generation {
		err = errors.New("its generation is another")
	}
	return r, err
}

// readRoot reads what write wrote.
func readRoot(value string) (*root, error) {
	r := &reader{in: value}
	r.magic(rootMagic)
	root := &root{generation: r.number()}
	root.segments = make([]segment, r.count(2*nameBytes+2))
	texts := 0
	for i := range root.segments {
		s := segment{r.name(tableKind), r.name(knownKind), r.number(), r.number()}
		root.segments[i] = s
		texts += s.texts
		if s.texts == 0 || texts > maxTexts {
			r.fail("no number of texts")
		}
	}
	root.garbage = make([]garbage, r.count(2))
	for i := range root.garbage {
		g := garbage{r.number(), make([]string, r.count(nameBytes))}
		for k := range g.names {
			if g.names[k] = r.bytes(nameBytes); r.err == nil && !isName(g.names[k]) {
				r.fail("no name of a value")
			}
		}
		root.garbage[i] = g
	}
	t := readWho(r)
	if r.err != nil {
		return nil, r.err
	}
	root.tail = make([]Memory, len(t.labelOf))
	i := 0
	for _, run := range t.runs {
		for range run.texts {
			root.tail[i].Session = t.sessions[run.session]
			i++
		}
	}
	w := wordsReader{reader: r}
	for i := range root.tail {
		t.labels[t.labelOf[i]].set(&root.tail[i])
		w.next().set(&root.tail[i])
	}
	return root, r.end()
}

// texts is how many texts there are in segments.
func (r *root) texts() (n int) {
	for _, s := range r.segments {
		n += s.texts
	}
	return n
}
