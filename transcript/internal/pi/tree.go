package pi

import (
	"strconv"

	"github.com/kagewasm/kagewasm/transcript/internal/codec"
	"github.com/kagewasm/kagewasm/transcript/internal/jsondoc"
)

// tree is a session of pi that can be written again.
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
type tree struct {
	*codec.Log
	linked bool // the entries have ids and parents
	lines  []line
	up     []int // the line that each line's parent is, or -1
}

// link finds the way to the leaf.
func (d *tree) link() {
	byID := make(map[string]int, len(d.lines))
	leaf := -1
	for i := range d.lines {
		l, up := &d.lines[i], -1
		switch {
		case !d.linked:
			l.path = i > 0
		case l.typ != "session":
			up = codec.Earlier(byID, l.parent, i)
			if leaf = i; l.id != "" {
				byID[l.id] = i
			}
		}
		d.up = append(d.up, up)
	}
	for i := leaf; i >= 0; i = d.up[i] {
		d.lines[i].path = true
	}
}

// supersede returns the messages that the latest compaction took from the
// model.
func (d *tree) supersede() (gone []int) {
	last := len(d.lines) - 1
	for last >= 0 && !(d.lines[last].path && d.lines[last].typ == "compaction") {
		last--
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
	for m, msg := range d.Messages {
		if i := msg.Rec(); i < kept || i < last && d.lines[i].typ == "compaction" {
			gone = append(gone, m)
		}
	}
	return gone
}

// names reports whether a compaction that keeps ref begins with line i.
func (d *tree) names(ref string, i int) bool {
	if !d.linked {
		return ref == strconv.Itoa(i)
	}
	return ref != "" && ref == d.lines[i].id
}

// rewrite is one writing of a session.
type rewrite struct {
	*codec.Rewrite
	*tree
	links []link          // of the new entries
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

// link is how a new entry stands in the chain. first is the JSON that names the
// first entry a compaction keeps, empty where there is none before it.
type link struct{ id, parent, first string }

func (d *tree) prepare(w *codec.Rewrite) {
	if w.Whole {
		return
	}
	r := &rewrite{Rewrite: w, tree: d, taken: make(map[string]bool, len(d.lines))}
	r.choose()
	for i := range d.lines {
		r.taken[d.lines[i].id] = true
	}
	r.chain()
	w.Fresh = r.entry
}

// choose decides which lines without a message stay, and which summary is the
// compaction.
func (w *rewrite) choose() {
	own := -1
	went := make(map[string]bool)
	for i, l := range w.lines {
		switch held := len(w.tree.Held(i)) > 0; {
		case held && !w.Keep[i]:
			went[l.id] = true
		case held && l.typ == "compaction":
			own = i
		}
	}
	for i, l := range w.lines {
		if len(w.tree.Held(i)) == 0 && l.typ == "label" && l.target != "" {
			w.Keep[i] = !went[l.target]
		}
	}
	w.last = w.LastSummary(own)
}

// chain gives every line its parent and every new entry its place.
func (w *rewrite) chain() {
	stay := w.Nearest(w.up)
	for i := range len(w.lines) + 1 {
		for k := len(w.links); k < len(w.Insert) && w.Insert[k].Rec == i; k++ {
			at := link{id: freshID(w.tree.Session, w.Insert[k].ID, w.taken), parent: w.prev, first: w.begins()}
			w.links = append(w.links, at)
			w.advance(at.id, true)
		}
		if i == len(w.lines) || !w.Keep[i] {
			continue
		}
		l, up := &w.lines[i], w.up[i]
		if !l.path {
			if up >= 0 && stay[up] != up {
				w.relink(i, w.idOf(stay[up]))
			}
			w.out++
			continue
		}
		if l.parent != w.prev && (w.prev != "" || up >= 0) {
			w.relink(i, w.prev)
		}
		held := len(w.tree.Held(i)) > 0
		if held && l.typ == "compaction" {
			w.compaction(i)
		}
		w.advance(l.id, held)
	}
}

// advance notes an entry that is written.
func (w *rewrite) advance(id string, message bool) {
	if message && w.firstAt == 0 {
		w.first, w.firstAt = id, w.out
	}
	w.prev = id
	w.out++
}

// begins is the name of the first message written so far.
func (w *rewrite) begins() string {
	switch {
	case w.firstAt == 0:
		return ""
	case w.linked:
		return string(jsondoc.Quote(w.first))
	}
	return strconv.Itoa(w.firstAt)
}

func (w *rewrite) idOf(i int) string {
	if i < 0 {
		return ""
	}
	return w.lines[i].id
}

func (w *rewrite) relink(i int, parent string) {
	if at := w.lines[i].parentAt; at.OK() {
		w.EditAt(i, at, jsondoc.OrNull(parent))
	}
}

// compaction keeps the last of the compactions, and makes a message of others.
func (w *rewrite) compaction(i int) {
	l := &w.lines[i]
	if i != w.last {
		m := w.Now[w.tree.Held(i)[0]]
		w.Replace(i, writeEntry(m, link{id: l.id, parent: w.prev}, w.linked, false, l.time, ""))
		return
	}
	first := w.begins()
	if first != "" && l.keptAt.OK() && first != string(w.tree.Bytes(l.keptAt)) {
		w.EditAt(i, l.keptAt, []byte(first))
	}
}
