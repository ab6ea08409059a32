package transcript

import "github.com/kagewasm/kagewasm/abi"

// rewriter is one writing of a document.
type rewriter struct {
	*recordDoc
	kept   []bool         // by message
	msgs   []*abi.Message // those that stay, by message
	keep   []bool         // by record
	edits  map[int][]edit
	insert []insertion
	// whole says that all messages stay and none is new.
	whole bool
}

// insertion is a new message, before the message next, which begins in record
// anchor.
type insertion struct {
	msg          *abi.Message
	anchor, next int
}

// begin takes in the list to write. It keeps the records of messages that
// stay; the others are the caller's to decide on.
func (d *recordDoc) begin(changes []change) *rewriter {
	w := &rewriter{
		recordDoc: d, kept: make([]bool, len(d.first)), msgs: make([]*abi.Message, len(d.first)),
		keep: make([]bool, len(d.recs)), edits: make(map[int][]edit),
	}
	originals, pending := 0, 0
	place := func(anchor, next int) {
		for ; pending > 0; pending-- {
			in := &w.insert[len(w.insert)-pending]
			in.anchor, in.next = anchor, next
		}
	}
	for i := range changes {
		c := &changes[i]
		if c.index < 0 {
			w.insert = append(w.insert, insertion{msg: c.msg})
			pending++
			continue
		}
		place(d.first[c.index], c.index)
		w.kept[c.index], w.msgs[c.index] = true, c.msg
		originals++
		c.edits(d, w.edits)
	}
	place(len(d.recs), len(d.first))
	w.whole = originals == len(d.first) && len(w.insert) == 0
	for i := range d.hold {
		for _, m := range d.hold[i].msgs {
			w.keep[i] = w.keep[i] || w.kept[m]
		}
	}
	return w
}

// finish writes the document, with the records that hold no message.
func (w *rewriter) finish() []byte {
	for i := range w.keep {
		w.keep[i] = w.keep[i] || i >= len(w.hold) || len(w.hold[i].msgs) == 0
	}
	items := w.items(w.freshText)
	if w.join != nil {
		items = w.join(items)
	}
	return w.write(items)
}

func (w *rewriter) freshText(in *insertion) []byte { return w.style(w.fresh(in.msg)) }

// write writes the document with the given items as its records, or all of the
// source where nothing changed.
func (w *rewriter) write(items []item) []byte {
	if w.whole && len(w.edits) == 0 {
		return append(make([]byte, 0, len(w.data)), w.data...)
	}
	return w.file(items, w.preface.edits(w.src, w.kept))
}

// items are the records to write, and the new messages between them.
func (w *rewriter) items(fresh func(*insertion) []byte) []item {
	items := make([]item, 0, len(w.recs)+len(w.insert))
	next := 0
	for i := range len(w.recs) + 1 {
		from := 0 // the first message of the record that is not written yet
		for ; next < len(w.insert) && w.insert[next].anchor == i; next++ {
			in := &w.insert[next]
			if w.split && w.keeps(i, from, in.next) {
				items = append(items, item{rec: i, edits: w.recordEdits(i, from, in.next)})
				from = in.next
			}
			items = append(items, item{rec: -1, text: fresh(in)})
		}
		if i < len(w.recs) && w.keep[i] {
			items = append(items, item{rec: i, edits: w.recordEdits(i, from, len(w.kept))})
		}
	}
	return items
}

// keeps reports whether record i holds a message from one on and up to another
// that stays.
func (w *rewriter) keeps(i, from, to int) bool {
	if i < len(w.hold) {
		for _, m := range w.hold[i].msgs {
			if m >= from && m < to && w.kept[m] {
				return true
			}
		}
	}
	return false
}

// recordEdits are the edits of a record, and the removal of the blocks whose
// messages are gone, or not from one on and up to another.
func (w *rewriter) recordEdits(i, from, to int) []edit {
	if i >= len(w.hold) {
		return nil
	}
	h, edits := &w.hold[i], w.edits[i]
	stays := func(m int) bool { return w.kept[m] && m >= from && m < to }
	gone := false
	for _, m := range h.of {
		gone = gone || !stays(m)
	}
	if !gone {
		return edits
	}
	list := listOf(w.src, h.blocks)
	var items []item
	for k, m := range h.of {
		if stays(m) {
			items = append(items, item{rec: k, edits: within(edits, list.recs[k])})
		}
	}
	out := []edit{{list.region, list.write(nil, items)}}
	for _, e := range edits {
		if e.at.end <= h.blocks.start || e.at.start >= h.blocks.end {
			out = append(out, e)
		}
	}
	return out
}

// replace writes record i anew.
func (w *rewriter) replace(i int, text []byte) {
	w.edits[i] = []edit{{w.recs[i], w.style(text)}}
}

// within are the edits inside a piece of the source.
func within(edits []edit, at span) (inside []edit) {
	for _, e := range edits {
		if e.at.start >= at.start && e.at.end <= at.end {
			inside = append(inside, e)
		}
	}
	return inside
}
