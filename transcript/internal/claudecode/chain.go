package claudecode

import (
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/transcript/internal/codec"
	"github.com/kagewasm/kagewasm/transcript/internal/content"
	"github.com/kagewasm/kagewasm/transcript/internal/jsondoc"
)

// chain is a log of Claude Code that can be written again.
//
// Claude Code follows a log from its newest entry back along parentUuid. So what
// a compaction leaves must be one chain: see [codec.Rewrite.Relink]. Only the
// value of parentUuid is replaced.
//
// An entry without a message goes when the message it belongs to goes. A
// file-history-snapshot belongs to the message it names, a subagent's entry to
// the message before it, any other entry with a parent to the message it follows
// in the chain. Entries that belong to none stay: titles, queues, hooks of the
// session's start. A compact_boundary goes when anything is left or new before
// it, as Claude Code sees nothing from before it.
//
// A new entry stands before the first line of the message after it. Where that
// line holds the message before as well (results and words on one line), the new
// entry precedes both.
type chain struct {
	*codec.Log
	lines []line
}

// link resolves parents and owners.
func (d *chain) link() {
	byUUID := make(map[string]int, len(d.lines))
	for i := range d.lines {
		u := d.lines[i].ID
		if _, ok := byUUID[u]; !ok && u != "" {
			byUUID[u] = i
		}
	}
	message, last := -1, -1             // the latest line with a message, and in the chain
	owners := make([]int, len(d.lines)) // the line that each line belongs to, or -1
	for i := range d.lines {
		l := &d.lines[i]
		l.Main = l.ID != "" && l.At.OK() && !l.Apart
		l.Up = codec.Earlier(byUUID, l.Parent, i)
		if l.kept != nil && l.Up < 0 {
			if l.Up = codec.Earlier(byUUID, l.logical, i); l.Up < 0 {
				l.Up = last
			}
		}
		if owners[i] = d.ownerOf(i, message, owners, byUUID); owners[i] >= 0 && owners[i] != i {
			d.GoesWith(i, owners[i])
		}
		if d.HasMessage(i) {
			message = i
		}
		if l.Main {
			last = i
		}
	}
}

func (d *chain) ownerOf(i, message int, owners []int, byUUID map[string]int) int {
	l := &d.lines[i]
	switch {
	case d.HasMessage(i):
		return i
	case l.Apart:
		return message
	case l.ref != "":
		if at, ok := byUUID[l.ref]; ok && d.HasMessage(at) {
			return at // which may well come later
		}
		return -1
	case l.kept != nil || l.Up < 0:
		return -1
	}
	return owners[l.Up]
}

// kept is what a compact_boundary preserves of the messages before it: the chain
// from tail back to head, and the lines with these uuids.
type kept struct {
	head, tail string
	uuids      map[string]bool
}

func readKept(o *jsondoc.Object) *kept {
	meta := o.Sub("compactMetadata", "preservedSegment", "preservedMessages")
	segment := meta.Sub("preservedSegment", "headUuid", "tailUuid")
	k := &kept{head: segment.Str("headUuid"), tail: segment.Str("tailUuid"), uuids: make(map[string]bool)}
	for _, at := range meta.Sub("preservedMessages", "uuids").List("uuids") {
		if o.Kind(at) == '"' {
			k.uuids[o.Unquote(at)] = true
		}
	}
	return k
}

// supersede notes the messages that Claude Code no longer shows the model: those
// before the latest compaction, which began a new chain.
func (d *chain) supersede() {
	last := len(d.lines) - 1
	for ; last >= 0; last-- {
		l := &d.lines[last]
		if !l.Apart && (l.kept != nil || l.summary && l.At.OK() && l.Parent == "") {
			break
		}
	}
	if last >= 0 {
		stays := d.preserved(last)
		d.Supersede(func(m *codec.Message) bool { return m.Rec < last && !stays[m.Index] })
	}
}

// preserved are the messages before line i that its compaction keeps.
func (d *chain) preserved(i int) map[int]bool {
	k, stays := d.lines[i].kept, make(map[int]bool)
	if k == nil {
		return stays
	}
	next := -1 // on the chain from the tail to the head
	for at := i - 1; at >= 0; at-- {
		l := &d.lines[at]
		if k.tail != "" && l.ID == k.tail {
			next = at
		}
		if at != next && (l.ID == "" || !k.uuids[l.ID]) {
			continue
		}
		for _, m := range d.MessagesIn(at) {
			stays[m] = true
		}
		if at == next {
			if next = l.Up; l.ID == k.head {
				next = -1
			}
		}
	}
	return stays
}

func (d *chain) prepare(w *codec.Rewrite) {
	d.choose(w)
	if w.Whole {
		return
	}
	links := make([]codec.Link, len(d.lines))
	for i := range d.lines {
		if links[i] = d.lines[i].Link; d.lines[i].kept != nil && links[i].Parent == "" {
			links[i].At = jsondoc.Span{} // a boundary begins a new chain
		}
	}
	uuids := lists.Map(w.Insert, func(in codec.Insertion) string { return content.UUID(d.Session, in.ID) })
	joints := w.Relink(links, uuids).New
	w.WriteNew = func(k int) []byte {
		return writeEntry(w.Insert[k].Message, uuids[k], joints[k].Parent, d.contextOf(joints[k].Beside))
	}
}

// choose decides which boundaries stay.
func (d *chain) choose(w *codec.Rewrite) {
	early := len(d.lines) // the first place that anything is left or new at
	if len(w.Insert) > 0 {
		early = w.Insert[0].Rec
	}
	for i := range d.lines {
		if d.HasMessage(i) && w.Keep[i] {
			early = min(early, i)
		}
		if d.lines[i].kept != nil {
			w.Keep[i] = w.Whole || early > i
		}
	}
}
