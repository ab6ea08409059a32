package codex

import (
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/transcript/internal/codec"
	"github.com/kagewasm/kagewasm/transcript/internal/jsondoc"
)

// rollout is a log of Codex that can be written again.
//
// Codex rebuilds what the model sees from the response items. So a message that
// goes takes its items and its reasoning with it, and a new message is a new
// response item. Entries for the screen stay. Base instructions that go become
// null.
//
// The list to write is what the model is to see. A compacted entry stays one only
// if exactly what it kept is left before it, and nothing new. Otherwise Codex
// would hide what is before it, or bring back what the entry repeats. Its summary
// is then written as the user message that Codex makes of it. Rollbacks go for
// the same reason once anything else changes.
type rollout struct {
	*codec.Log
	lines []line
	meta  int          // the session_meta entry, or -1
	base  jsondoc.Span // the base instructions, if there are any
	// person says which messages Codex takes for the person's words.
	person []bool
	// last is the message of the latest compacted entry, or -1. retained says
	// which messages before it the entry kept.
	last     int
	retained []bool
}

func (d *rollout) prepare(w *codec.Rewrite) {
	d.head(w)
	for i := range d.lines {
		l := &d.lines[i]
		switch {
		case l.rollback > 0:
			w.Keep[i] = w.Whole
		case l.compacted && w.Keep[i] && !w.Whole && !d.exact(w, i):
			m := w.Now[d.MessagesIn(i)[0]]
			w.Replace(i, writeItem(m, items(m)[0], l.time))
		}
	}
	w.WriteNew = func(k int) []byte {
		time := ""
		if rec := w.Insert[k].Rec; rec > 0 {
			time = d.lines[rec-1].time
		}
		return d.Separated(writeEntry(w.Insert[k].Message, time))
	}
}

// head keeps session_meta the first entry. The base instructions leave it when
// they go, or when something new stands before them. What stands before them then
// comes after session_meta.
func (d *rollout) head(w *codec.Rewrite) {
	if !d.base.OK() {
		return
	}
	early := 0
	for early < len(w.Insert) && w.Insert[early].Rec <= d.meta {
		w.Insert[early].Rec = d.meta + 1
		early++
	}
	if w.Stays(0) && early == 0 {
		return
	}
	w.Keep[d.meta] = true
	w.EditAt(d.meta, d.base, jsondoc.Null)
	if w.Stays(0) {
		w.Insert = slices.Insert(w.Insert, early, codec.Insertion{Message: w.Now[0], Rec: d.meta + 1})
	}
}

// exact reports whether Codex would show what the list has up to compacted entry
// i, if the entry stayed.
func (d *rollout) exact(w *codec.Rewrite, i int) bool {
	if d.MessagesIn(i)[0] != d.last || len(w.Insert) > 0 && w.Insert[0].Rec <= i {
		return false
	}
	for m := range d.last {
		if w.Stays(m) != d.retained[m] {
			return false
		}
	}
	return true
}

// personBytes is how much of the person's latest words Codex repeats where a
// compacted entry has no replacement history: 20,000 tokens of four bytes.
const personBytes = 80_000

// view is what the model sees of the messages read so far.
type view struct {
	*rollout
	seen  []int // messages, in order
	turns []int // where in seen words of the person stand
}

// supersede notes the messages that Codex no longer shows the model. Only the
// latest compacted entry counts, as it also takes what earlier ones took.
func (d *rollout) supersede() {
	latest := len(d.lines) - 1
	for latest >= 0 && !d.lines[latest].compacted {
		latest--
	}
	d.last = -1
	v := view{rollout: d}
	for i := range d.lines {
		if i == latest {
			d.last = d.MessagesIn(i)[0]
			v.compact(d.lines[i].replaced)
		}
		v.takeBack(d.lines[i].rollback)
		for _, m := range d.MessagesIn(i) {
			if d.Messages[m].Rec == i {
				v.see(m)
			}
		}
	}
	d.Supersede(func(m *codec.Message) bool {
		_, seen := slices.BinarySearch(v.seen, m.Index)
		return !seen
	})
}

func (v *view) see(m int) {
	if v.person[m] {
		v.turns = append(v.turns, len(v.seen))
	}
	v.seen = append(v.seen, m)
}

// compact leaves what a compacted entry keeps.
func (v *view) compact(replaced map[string]int) {
	v.retained = make([]bool, v.last)
	left := personBytes
	for _, m := range slices.Backward(v.seen) {
		switch msg := v.Messages[m]; {
		case m == 0 && v.base.OK():
			v.retained[m] = true
		case replaced != nil:
			key := keyOf(msg.Role, msg.Content)
			v.retained[m] = len(msg.ToolCalls) == 0 && msg.Role != abi.RoleTool && replaced[key] > 0
			replaced[key]--
		case v.person[m]:
			v.retained[m] = left > 0
			left -= len(msg.Text())
		default:
			v.retained[m] = msg.Role == abi.RoleSystem || msg.Role == abi.RoleUser &&
				(msg.Kind == abi.KindInstructions || msg.Kind == abi.KindMeta)
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
func (v *view) takeBack(turns int) {
	if turns = min(turns, len(v.turns)); turns > 0 {
		first := len(v.turns) - turns
		v.seen, v.turns = v.seen[:v.turns[first]], v.turns[:first]
	}
}
