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

// codexView is what the model sees of the messages read so far.
type codexView struct {
	*codexDoc
	next  int
	seen  []int // messages, in order
	turns []int // where in seen words of the person stand
}

// supersede returns the messages that Codex no longer shows the model. Only
// the latest compacted entry counts: what earlier ones took away it takes too.
func (d *codexDoc) supersede(msgs []abi.Message) (gone []int) {
	last := -1
	for i := range d.lines {
		if d.lines[i].compacted {
			last = i
		}
	}
	d.last = -1
	v := codexView{codexDoc: d}
	for i := range d.lines {
		switch l := &d.lines[i]; {
		case i == last:
			v.until(l.msgs)
			d.last = l.msgs
			v.compact(msgs, l.replaced)
		case l.rollback > 0:
			v.until(l.msgs)
			v.takeBack(l.rollback)
		}
	}
	v.until(len(msgs))
	for m := range msgs {
		if len(v.seen) > 0 && v.seen[0] == m {
			v.seen = v.seen[1:]
		} else {
			gone = append(gone, m)
		}
	}
	return gone
}

func (v *codexView) until(n int) {
	for ; v.next < n; v.next++ {
		v.see(v.next)
	}
}

func (v *codexView) see(m int) {
	if v.person[m] {
		v.turns = append(v.turns, len(v.seen))
	}
	v.seen = append(v.seen, m)
}

// compact leaves what a compacted entry keeps.
func (v *codexView) compact(msgs []abi.Message, replaced map[string]int) {
	v.retained = make([]bool, v.last)
	room := codexUserBytes
	for k := len(v.seen) - 1; k >= 0; k-- {
		m := v.seen[k]
		switch {
		case m == 0 && v.base.end > 0:
			v.retained[m] = true
		case replaced != nil:
			key := codexKey(msgs[m].Role, msgs[m].Content)
			v.retained[m] = len(msgs[m].ToolCalls) == 0 && msgs[m].Role != abi.RoleTool && replaced[key] > 0
			replaced[key]--
		case v.person[m]:
			v.retained[m] = room > 0
			room -= len(msgs[m].Text())
		default:
			v.retained[m] = msgs[m].Role == abi.RoleSystem || msgs[m].Role == abi.RoleUser &&
				(msgs[m].Kind == abi.KindInstructions || msgs[m].Kind == abi.KindMeta)
		}
	}
	before := v.seen
	v.seen, v.turns = nil, nil
	for _, m := range before {
		if v.retained[m] {
			v.see(m)
		}
	}
}

// takeBack drops the latest turns of the person, or all there are.
func (v *codexView) takeBack(turns int) {
	if turns = min(turns, len(v.turns)); turns > 0 {
		first := len(v.turns) - turns
		v.seen, v.turns = v.seen[:v.turns[first]], v.turns[:first]
	}
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
	return d.file(w.items(d.entry))
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
