package transcript

import (
	"slices"

	"github.com/kagewasm/kagewasm/abi"
)

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

// codexUserBytes is how much of the person's words Codex repeats where a
// compacted entry does not say: 20,000 tokens of four bytes, newest first.
const codexUserBytes = 80_000

// supersede returns the messages that Codex no longer shows the model. Only
// the latest compacted entry counts: what earlier ones took away it takes too.
func (d *codexDoc) supersede(msgs []abi.Message) (gone []int) {
	d.last = -1
	last := -1
	for i := range d.lines {
		if d.lines[i].compacted {
			last = i
		}
	}
	var seen []int // the messages that the model sees, in order
	next := 0
	until := func(n int) {
		for ; next < n; next++ {
			seen = append(seen, next)
		}
	}
	for i := range d.lines {
		l := &d.lines[i]
		switch {
		case i == last:
			until(l.msgs)
			d.last = l.msgs
			seen = d.retain(msgs, seen, l.replaced)
		case l.rollback > 0:
			until(l.msgs)
			seen = d.takeBack(seen, l.rollback)
		}
	}
	until(len(msgs))
	stays := make([]bool, len(msgs))
	for _, m := range seen {
		stays[m] = true
	}
	for m := range msgs {
		if !stays[m] {
			gone = append(gone, m)
		}
	}
	return gone
}

// retain returns which of the messages seen so far a compacted entry keeps.
func (d *codexDoc) retain(msgs []abi.Message, seen []int, replaced map[string]int) (kept []int) {
	d.retained = make([]bool, d.last)
	room := codexUserBytes
	for k := len(seen) - 1; k >= 0; k-- {
		m := &msgs[seen[k]]
		switch {
		case d.base.end > 0 && seen[k] == 0:
			d.retained[0] = true
		case replaced != nil:
			key := codexKey(m.Role, m.Content)
			d.retained[seen[k]] = len(m.ToolCalls) == 0 && m.Role != abi.RoleTool && replaced[key] > 0
			replaced[key]--
		case d.person[seen[k]]:
			d.retained[seen[k]] = room > 0
			room -= len(m.Text())
		default:
			d.retained[seen[k]] = m.Role == abi.RoleSystem ||
				m.Role == abi.RoleUser && (m.Kind == abi.KindInstructions || m.Kind == abi.KindMeta)
		}
	}
	for _, m := range seen {
		if d.retained[m] {
			kept = append(kept, m)
		}
	}
	return kept
}

// takeBack drops the latest turns of the person.
func (d *codexDoc) takeBack(seen []int, turns int) []int {
	for k := len(seen) - 1; k >= 0; k-- {
		if d.person[seen[k]] {
			if turns--; turns == 0 {
				return seen[:k]
			}
		}
	}
	for k, m := range seen {
		if d.person[m] {
			return seen[:k]
		}
	}
	return seen
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
			w.replace(i, codexItem(w.msgs[l.msgs], codexItems(w.msgs[l.msgs])[0], l.time))
		}
	}
	return d.file(w.items(func(in *insertion) []byte { return d.entry(in) }))
}

// head keeps session_meta the first entry: where the base instructions go, or
// something new stands before them, they go from it, and what stands before it
// comes after.
func (d *codexDoc) head(w *rewriter) {
	early := 0
	for early < len(w.insert) && w.insert[early].anchor <= d.meta {
		w.insert[early].anchor = d.meta + 1
		early++
	}
	if d.base.end == 0 || w.kept[0] && early == 0 {
		return
	}
	w.keep[d.meta] = true
	w.edits[d.meta] = []edit{{d.base, []byte("null")}}
	if w.kept[0] {
		w.insert = slices.Insert(w.insert, early, insertion{w.msgs[0], d.meta + 1})
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
