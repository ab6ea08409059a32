package transcript

import "slices"

// codexDoc is a rollout that can be written again.
//
// Codex rebuilds what the model sees from the response items, so a message
// that goes takes its items and its reasoning with it, and a new one is a
// response item. Entries for the screen stay. Base instructions that go become
// null.
//
// The list to write is what the model is to see: a compacted entry stays one
// only where just what it kept is left before it and nothing is new there.
// Otherwise Codex would hide what is before it, or bring back what the entry
// repeats; its summary is then written as the user message that Codex makes of
// it. Rollbacks go for the same reason when anything else changes.
type codexDoc struct {
	recordDoc
	lines []codexLine
	meta  int // the session_meta entry, or -1
	base  span
	// person says of each message that Codex takes it for words of the person.
	person []bool
	// last is the message of the latest compacted entry, retained what that
	// kept of the messages before it.
	last     int
	retained []bool
}

func (d *codexDoc) rewrite(changes []change) []byte {
	w := d.begin(changes)
	d.head(w)
	for i := range d.lines {
		l := &d.lines[i]
		switch {
		case len(d.hold[i].msgs) == 0:
			w.keep[i] = (l.of < 0 || w.kept[l.of]) && (l.rollback == 0 || w.whole)
		case l.compacted && w.keep[i] && !w.whole && !d.exact(w, i):
			m := w.msgs[l.msgs]
			w.replace(i, codexItem(m, codexItems(m)[0], l.time))
		}
	}
	return w.write(w.items(d.entry))
}

// head keeps session_meta the first entry: where the base instructions go, or
// something new stands before them, they go from it, and what stands before it
// comes after.
func (d *codexDoc) head(w *rewriter) {
	if d.base.end == 0 {
		return
	}
	early := 0
	for early < len(w.insert) && w.insert[early].anchor <= d.meta {
		w.insert[early].anchor = d.meta + 1
		early++
	}
	if w.kept[0] && early == 0 {
		return
	}
	w.keep[d.meta] = true
	w.edits[d.meta] = []edit{{d.base, []byte("null")}}
	if w.kept[0] {
		w.insert = slices.Insert(w.insert, early, insertion{msg: w.msgs[0], anchor: d.meta + 1})
	}
}

// exact reports whether Codex makes of compacted entry i, and of what is
// before it, what the list has there.
func (d *codexDoc) exact(w *rewriter, i int) bool {
	if d.lines[i].msgs != d.last || len(w.insert) > 0 && w.insert[0].anchor <= i {
		return false
	}
	for m := range d.last {
		if w.kept[m] != d.retained[m] {
			return false
		}
	}
	return true
}
