package pi

import (
	"strconv"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/transcript/internal/codec"
	"github.com/kagewasm/kagewasm/transcript/internal/jsondoc"
)

// tree is a session of pi that can be written again.
//
// What is left on the way to the leaf is one chain: see [codec.Rewrite.Relink]. A
// branch whose root is gone gets the nearest ancestor that stays. Settings and
// extension data stay; a label goes with its entry.
//
// The list to write is what the model is to see. Its last summary is a compaction
// that keeps all messages left before it; pi shows the summary first. Earlier
// summaries become an extension's messages, as pi would not show them otherwise.
type tree struct {
	*codec.Log
	linked bool // the entries have ids and parents
	lines  []line
}

// link finds the way to the leaf. Entries without parents follow each other.
func (d *tree) link() {
	byID := make(map[string]int, len(d.lines))
	leaf := -1
	for i := range d.lines {
		l := &d.lines[i]
		if l.Up = -1; i == 0 || d.linked && l.typ == "session" {
			continue
		}
		if d.linked {
			l.Up = codec.Earlier(byID, l.Parent, i)
		} else if i > 1 {
			l.Up = i - 1
		}
		if leaf = i; l.ID != "" {
			byID[l.ID] = i
		}
	}
	for i := leaf; i >= 0; i = d.lines[i].Up {
		d.lines[i].Main = true
	}
	for i, l := range d.lines {
		if of, ok := byID[l.target]; ok {
			d.GoesWith(i, of)
			d.lines[i].edited = of
		}
	}
}

// supersede notes the messages that the latest compaction and edits took from the model.
func (d *tree) supersede() {
	last := len(d.lines) - 1
	for last >= 0 && !(d.lines[last].Main && d.lines[last].typ == "compaction") {
		last--
	}
	kept := last
	for i := last - 1; i >= 0; i-- {
		if l := &d.lines[i]; l.Main && d.names(d.lines[last].kept, i) {
			kept = i
		}
	}
	d.Supersede(func(m *codec.Message) bool {
		if m.Role == abi.RoleSystem && d.lines[m.Rec].typ == "message" {
			return d.lines[m.Rec].omitted // pi carries on what system messages say
		}
		return m.Rec < kept || d.lines[m.Rec].omitted || m.Rec < last && d.lines[m.Rec].typ == "compaction"
	})
}

// names reports whether a compaction that keeps ref begins with line i.
func (d *tree) names(ref string, i int) bool {
	if !d.linked {
		return ref == strconv.Itoa(i)
	}
	return ref != "" && ref == d.lines[i].ID
}

func (d *tree) prepare(w *codec.Rewrite) {
	if w.Whole {
		return
	}
	last := -1 // the summary that is the compaction: a line, or after all lines a new entry
	for i := range d.lines {
		if d.HasMessage(i) && w.Keep[i] && d.lines[i].typ == "compaction" {
			last = i
		}
	}
	last = w.LastSummary(last)
	taken := make(map[string]bool, len(d.lines))
	links := make([]codec.Link, len(d.lines))
	for i, l := range d.lines {
		taken[l.ID], links[i] = true, l.Link
		links[i].Apart = !l.Main
	}
	ids := lists.Map(w.Insert, func(in codec.Insertion) string { return freshID(d.Session, in.ID, taken) })
	made := w.Relink(links, ids)
	first := d.first(w, ids, last)
	for i := range d.lines {
		if l := &d.lines[i]; w.Keep[i] && l.typ == "compaction" && d.HasMessage(i) {
			at := link{l.ID, made.Parents[i], first}
			d.compaction(w, i, i == last, at)
		}
	}
	w.WriteNew = func(k int) []byte {
		when := codec.NoTime
		if rec := w.Insert[k].Rec; rec > 0 {
			when = d.lines[rec-1].time
		}
		at := link{ids[k], made.New[k].Parent, first}
		return writeEntry(w.Insert[k].Message, at, d.linked, last == len(d.lines)+k, when, "")
	}
}

// first names the first message that the compaction keeps, as JSON. It is empty
// where no message stands before the compaction.
func (d *tree) first(w *codec.Rewrite, ids []string, last int) string {
	written := 0 // lines before
	for i := range len(d.lines) + 1 {
		if len(w.Insert) > 0 && w.Insert[0].Rec == i {
			return d.nameOf(ids[0], written, last == len(d.lines))
		}
		if i == len(d.lines) || !w.Keep[i] {
			continue
		}
		if d.HasMessage(i) {
			return d.nameOf(d.lines[i].ID, written, last == i)
		}
		written++
	}
	return ""
}

// nameOf names an entry as JSON: by its id, or in version 1 by its index. The
// compaction itself has no name.
func (d *tree) nameOf(id string, index int, isCompaction bool) string {
	switch {
	case isCompaction:
		return ""
	case d.linked:
		return string(jsondoc.Quote(id))
	}
	return strconv.Itoa(index)
}

// compaction keeps the last compaction, and writes earlier ones as messages.
func (d *tree) compaction(w *codec.Rewrite, i int, last bool, at link) {
	l := &d.lines[i]
	switch {
	case !last:
		w.Replace(i, writeEntry(w.Now[d.MessagesIn(i)[0]], at, d.linked, false, l.time, ""))
	case at.first != "" && l.keptAt.OK() && at.first != string(d.Bytes(l.keptAt)):
		w.EditAt(i, l.keptAt, []byte(at.first))
	}
}
