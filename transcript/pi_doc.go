package transcript

import "strconv"

// piDoc is a session of pi that can be written again.
//
// What is left on the way to the leaf is one chain again: an entry whose parent
// went, or before which a new one stands, gets the entry before it, and a
// branch whose root went gets the nearest ancestor that stayed. Settings and
// extension data stay; a label goes with its entry.
//
// The list to write is what the model is to see. Of the summaries in it the
// last is a compaction, which keeps all that is left before it; pi shows it
// first. Earlier ones are messages of the extension kind, as pi would not show
// them otherwise.
type piDoc struct {
	recordDoc
	session string
	tree    bool // the entries have ids and parents
	lines   []piLine
}

// link finds the way to the leaf.
func (d *piDoc) link() {
	if !d.tree {
		for i := range d.lines {
			d.lines[i].path = i > 0
		}
		return
	}
	byID := make(map[string]int, len(d.lines))
	leaf := -1
	for i := range d.lines {
		l := &d.lines[i]
		if l.typ == "session" {
			continue
		}
		l.up = before(byID, l.parent, i)
		if leaf = i; l.id != "" {
			byID[l.id] = i
		}
	}
	for i := leaf; i >= 0; i = d.lines[i].up {
		d.lines[i].path = true
	}
}

// supersede returns the messages that the latest compaction took from the
// model.
func (d *piDoc) supersede() (gone []int) {
	last := -1
	for i := range d.lines {
		if d.lines[i].path && d.lines[i].typ == "compaction" {
			last = i
		}
	}
	if last < 0 {
		return nil
	}
	kept := last
	for i := last - 1; i >= 0; i-- {
		if l := &d.lines[i]; l.path && d.names(d.lines[last].kept, i) {
			kept = i
		}
	}
	for m, i := range d.first {
		if i < kept || i < last && d.lines[i].typ == "compaction" {
			gone = append(gone, m)
		}
	}
	return gone
}

// names reports whether a compaction that keeps ref begins with line i.
func (d *piDoc) names(ref string, i int) bool {
	if !d.tree {
		return ref == strconv.Itoa(i)
	}
	return ref != "" && ref == d.lines[i].id
}

// piRewrite is one writing of a session.
type piRewrite struct {
	*rewriter
	doc   *piDoc
	links []piLink        // of the new entries
	taken map[string]bool // ids
	// last is the summary that is the compaction: a line, or after all lines a
	// new entry.
	last int
	// prev is the id of the entry before, first the one that pi begins with
	// and at its place among all lines.
	prev, first string
	firstAt     int
	out         int // lines written
}

// piLink is how a new entry stands in the chain.
type piLink struct{ id, parent, first string }

func (d *piDoc) rewrite(changes []change) []byte {
	w := &piRewrite{rewriter: d.begin(changes), doc: d, last: -1}
	if !w.whole {
		w.choose()
		w.taken = make(map[string]bool, len(d.lines))
		for i := range d.lines {
			w.taken[d.lines[i].id] = true
		}
		w.chain()
	} else {
		for i := range w.keep {
			w.keep[i] = true
		}
	}
	next := 0
	return w.write(w.items(func(in *insertion) []byte {
		next++
		return w.entry(in, next-1)
	}))
}

// choose decides which lines without a message stay, and which summary is the
// compaction.
func (w *piRewrite) choose() {
	went := make(map[string]bool)
	for i := range w.doc.lines {
		if len(w.hold[i].msgs) > 0 && !w.keep[i] {
			went[w.doc.lines[i].id] = true
		}
	}
	for i := range w.doc.lines {
		l := &w.doc.lines[i]
		if len(w.hold[i].msgs) == 0 {
			w.keep[i] = l.typ != "label" || l.target == "" || !went[l.target]
		} else if w.keep[i] && l.typ == "compaction" {
			w.last = i
		}
	}
	for k, in := range w.insert {
		if isSummary(in.msg) && (w.last < 0 || w.last >= len(w.doc.lines) || in.anchor > w.last) {
			w.last = len(w.doc.lines) + k
		}
	}
}

// chain gives every line its parent and every new entry its place.
func (w *piRewrite) chain() {
	stay := make([]int, len(w.doc.lines)) // the line itself where it stays, or the nearest ancestor that does
	for i := range len(w.doc.lines) + 1 {
		for k := len(w.links); k < len(w.insert) && w.insert[k].anchor <= i; k++ {
			link := piLink{id: freshID(w.doc.session, w.insert[k].msg.ID, w.taken), parent: w.prev, first: w.begins()}
			w.links = append(w.links, link)
			w.advance(link.id, true)
		}
		if i == len(w.doc.lines) {
			return
		}
		l := &w.doc.lines[i]
		if stay[i] = i; !w.keep[i] {
			if stay[i] = -1; l.up >= 0 {
				stay[i] = stay[l.up]
			}
			continue
		}
		switch {
		case !l.path && l.up >= 0 && stay[l.up] != l.up:
			w.relink(i, w.idOf(stay[l.up]))
		case l.path && l.parent != w.prev && (w.prev != "" || l.up >= 0):
			w.relink(i, w.prev)
		}
		if !l.path {
			w.out++
			continue
		}
		if len(w.hold[i].msgs) > 0 && l.typ == "compaction" {
			w.compaction(i)
		}
		w.advance(l.id, len(w.hold[i].msgs) > 0)
	}
}

// advance notes an entry that is written.
func (w *piRewrite) advance(id string, message bool) {
	if message && w.firstAt == 0 {
		w.first, w.firstAt = id, w.out
	}
	w.prev = id
	w.out++
}

// begins is the name of the first message written so far.
func (w *piRewrite) begins() string {
	switch {
	case w.firstAt == 0:
		return ""
	case w.doc.tree:
		return string(quote(w.first))
	}
	return strconv.Itoa(w.firstAt)
}

func (w *piRewrite) idOf(i int) string {
	if i < 0 {
		return ""
	}
	return w.doc.lines[i].id
}

func (w *piRewrite) relink(i int, parent string) {
	l := &w.doc.lines[i]
	if l.parentAt.end == 0 {
		return
	}
	value := []byte("null")
	if parent != "" {
		value = quote(parent)
	}
	w.edits[i] = append(w.edits[i], edit{l.parentAt, value})
}

// compaction keeps the last of the compactions, and makes a message of others.
func (w *piRewrite) compaction(i int) {
	l := &w.doc.lines[i]
	if i != w.last {
		m := w.msgs[w.hold[i].msgs[0]]
		w.replace(i, piEntry(m, piLink{id: l.id, parent: w.prev}, w.doc.tree, false, l.time, ""))
		return
	}
	first := w.begins()
	if first == "" || l.keptAt.end == 0 || first == string(w.src.bytes(l.keptAt)) {
		return
	}
	w.edits[i] = append(w.edits[i], edit{l.keptAt, []byte(first)})
}
