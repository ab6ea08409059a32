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

// insertion is a new message, before the record anchor.
type insertion struct {
	msg    *abi.Message
	anchor int
}

// begin takes in the list to write. It keeps the records of messages that
// stay; the others are the caller's to decide on.
func (d *recordDoc) begin(changes []change) *rewriter {
	w := &rewriter{
		recordDoc: d, kept: make([]bool, len(d.first)), msgs: make([]*abi.Message, len(d.first)), keep: make([]bool, len(d.recs)), edits: make(map[int][]edit),
	}
	originals, pending := 0, 0
	place := func(anchor int) {
		for ; pending > 0; pending-- {
			w.insert[len(w.insert)-pending].anchor = anchor
		}
	}
	for i := range changes {
		c := &changes[i]
		if c.index < 0 {
			w.insert = append(w.insert, insertion{msg: c.msg})
			pending++
			continue
		}
		place(d.first[c.index])
		w.kept[c.index], w.msgs[c.index] = true, c.msg
		originals++
		c.edits(d, w.edits)
	}
	place(len(d.recs))
	w.whole = originals == len(d.first) && len(w.insert) == 0
	for i := range d.hold {
		for _, m := range d.hold[i].msgs {
			w.keep[i] = w.keep[i] || w.kept[m]
		}
	}
	return w
}

// items are the records to write, and the new messages between them.
func (w *rewriter) items(fresh func(*insertion) []byte) []item {
	items := make([]item, 0, len(w.recs)+len(w.insert))
	next := 0
	for i := range len(w.recs) + 1 {
		for ; next < len(w.insert) && w.insert[next].anchor == i; next++ {
			items = append(items, item{rec: -1, text: fresh(&w.insert[next])})
		}
		if i < len(w.recs) && w.keep[i] {
			items = append(items, item{rec: i, edits: w.recordEdits(i)})
		}
	}
	return items
}

// recordEdits are the edits of a record, and the removal of the blocks whose
// messages are gone.
func (w *rewriter) recordEdits(i int) []edit {
	h, edits := &w.hold[i], w.edits[i]
	gone := false
	for _, m := range h.of {
		gone = gone || !w.kept[m]
	}
	if !gone {
		return edits
	}
	list := listOf(w.src, h.blocks)
	var items []item
	for k, m := range h.of {
		if w.kept[m] {
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
