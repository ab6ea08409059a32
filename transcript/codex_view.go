package transcript

import "github.com/kagewasm/kagewasm/abi"

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
