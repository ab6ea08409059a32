package claudecode

import (
	"slices"

	"github.com/kagewasm/kagewasm/transcript/internal/codec"
	"github.com/kagewasm/kagewasm/transcript/internal/content"
	"github.com/kagewasm/kagewasm/transcript/internal/jsondoc"
)

// chain is a log of Claude Code that can be written again.
//
// Claude Code reads a log from its newest entry back along parentUuid, so what
// is left after a compaction must be one chain again: an entry whose parent
// went gets the nearest ancestor that stayed, and a new entry is put in
// between. Only the value of parentUuid is replaced.
//
// Entries that hold no message belong to one: a file-history-snapshot to the
// message it names, other entries with a parent to the message they follow in
// the chain, a subagent's to the message before them. They go when that goes,
// and stay otherwise; what belongs to none stays (titles, queues, hooks of the
// session's start). A compact_boundary, before which Claude Code sees nothing,
// goes when anything is left or new before it.
//
// A new entry stands before the first line of the message it precedes. Where
// that line holds the message before as well (results and words on one line),
// it precedes both.
type chain struct {
	*codec.Log
	lines []line
	up    []int // the line that each line's parent is, or -1
	owner []int // the line that each line without a message belongs to, or -1
}

// holds reports whether line i holds a message.
func (d *chain) holds(i int) bool { return len(d.Held(i)) > 0 }

// chained reports whether other lines can name l as their parent.
func (l *line) chained() bool { return l.uuid != "" && l.parentAt.OK() && !l.side }

// link resolves parents and owners.
func (d *chain) link() {
	byUUID := make(map[string]int, len(d.lines))
	for i := range d.lines {
		u := d.lines[i].uuid
		if _, ok := byUUID[u]; !ok && u != "" {
			byUUID[u] = i
		}
	}
	message, last := -1, -1 // the latest line with a message, and in the chain
	for i := range d.lines {
		l := &d.lines[i]
		up := codec.Earlier(byUUID, l.parent, i)
		if l.kept != nil && up < 0 {
			if up = codec.Earlier(byUUID, l.logical, i); up < 0 {
				up = last
			}
		}
		d.up = append(d.up, up)
		d.owner = append(d.owner, d.ownerOf(i, message, byUUID))
		if d.holds(i) {
			message = i
		}
		if l.chained() {
			last = i
		}
	}
}

func (d *chain) ownerOf(i, message int, byUUID map[string]int) int {
	l := &d.lines[i]
	switch {
	case d.holds(i):
		return i
	case l.side:
		return message
	case l.ref != "":
		if at, ok := byUUID[l.ref]; ok && d.holds(at) {
			return at // which may well come later
		}
		return -1
	case l.kept != nil || d.up[i] < 0:
		return -1
	}
	return d.owner[d.up[i]]
}

// kept is what a compact_boundary preserves of the messages before it: the
// chain from tail up to head, and the lines with these uuids.
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

// supersede returns the messages that Claude Code no longer shows the model:
// those before the latest place at which a compaction began the chain anew.
func (d *chain) supersede() (gone []int) {
	last := len(d.lines) - 1
	for ; last >= 0; last-- {
		l := &d.lines[last]
		if !l.side && (l.kept != nil || l.summary && l.parentAt.OK() && l.parent == "") {
			break
		}
	}
	if last < 0 {
		return nil
	}
	stays := d.preserved(last)
	for m, msg := range d.Messages {
		if msg.Rec() < last && !stays[m] {
			gone = append(gone, m)
		}
	}
	return gone
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
		if k.tail != "" && l.uuid == k.tail {
			next = at
		}
		if at != next && (l.uuid == "" || !k.uuids[l.uuid]) {
			continue
		}
		for _, m := range d.Held(at) {
			stays[m] = true
		}
		if at == next {
			if next = d.up[at]; l.uuid == k.head {
				next = -1
			}
		}
	}
	return stays
}

// rewrite is one writing of a log.
type rewrite struct {
	*codec.Rewrite
	*chain
	links []link // of the new entries
}

// link is how a new entry stands in the chain.
type link struct {
	uuid, parent string
	// like is the line whose circumstances (folder, version, branch) the entry
	// takes over, or -1.
	like int
}

func (d *chain) prepare(w *codec.Rewrite) {
	r := &rewrite{Rewrite: w, chain: d}
	r.choose()
	for _, in := range w.Insert {
		r.links = append(r.links, link{uuid: content.UUID(d.Session, in.ID)})
	}
	if !w.Whole {
		r.relink()
	}
	w.Fresh = r.entry
}

// choose decides which lines without a message stay.
func (w *rewrite) choose() {
	early := len(w.lines) // the first place that anything is left or new at
	for i := range w.lines {
		if w.holds(i) && w.Keep[i] {
			early = i
			break
		}
	}
	if len(w.Insert) > 0 {
		early = min(early, w.Insert[0].Rec)
	}
	for i := range w.lines {
		switch {
		case w.holds(i):
		case w.lines[i].kept != nil:
			w.Keep[i] = w.Whole || early > i
		default:
			w.Keep[i] = w.owner[i] < 0 || w.Keep[w.owner[i]]
		}
	}
}

// relink makes one chain of the lines that stay and the new ones.
func (w *rewrite) relink() {
	n := len(w.lines)
	stay := w.Nearest(w.up)
	next := slices.Repeat([]int{-1}, n+1) // the first chained line that stays from a place on
	for i := n - 1; i >= 0; i-- {
		if next[i] = next[i+1]; w.Keep[i] && w.lines[i].chained() {
			next[i] = i
		}
	}
	last, done := -1, 0 // the last chained line that stays before, and how many new entries
	for i := range n + 1 {
		for ; done < len(w.Insert) && w.Insert[done].Rec == i; done++ {
			w.linkInsert(done, last, next[i], stay)
		}
		if i == n || !w.Keep[i] {
			continue
		}
		l := &w.lines[i]
		if l.parentAt.OK() && !(l.kept != nil && l.parent == "") {
			w.linkLine(i, done, w.ancestor(stay, i))
		}
		if l.chained() {
			last = i
		}
	}
}

func (w *rewrite) ancestor(stay []int, i int) int {
	if w.up[i] < 0 {
		return -1
	}
	return stay[w.up[i]]
}

// linkInsert links a new entry to the place where the line after it hung.
func (w *rewrite) linkInsert(k, base, after int, stay []int) {
	to := &w.links[k]
	if after >= 0 {
		if a := w.ancestor(stay, after); a >= 0 && a < w.Insert[k].Rec {
			base = a
		}
	}
	to.like = after
	if base >= 0 {
		to.parent, to.like = w.lines[base].uuid, base
	}
	if k > 0 && w.Insert[k-1].Rec > base {
		to.parent = w.links[k-1].uuid
	}
}

// linkLine gives a line its parent: the nearest ancestor that stays, or a new
// entry that stands between the two. done is how many new entries stand before
// the line.
func (w *rewrite) linkLine(i, done, ancestor int) {
	l := &w.lines[i]
	parent := ""
	switch {
	case done > 0 && ancestor < w.Insert[done-1].Rec && !l.side:
		parent = w.links[done-1].uuid
	case ancestor >= 0:
		parent = w.lines[ancestor].uuid
	case w.up[i] < 0:
		return // a root, or a child of another file's entry
	}
	if parent != l.parent {
		w.EditAt(i, l.parentAt, jsondoc.OrNull(parent))
	}
}
