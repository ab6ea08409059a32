package transcript

// claudeDoc is a log of Claude Code that can be written again.
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
type claudeDoc struct {
	recordDoc
	session string
	lines   []claudeLine
	up      []int // the line that each line's parent is, or -1
	owner   []int // the line that each line without a message belongs to, or -1
}

// holds reports whether line i holds a message.
func (d *claudeDoc) holds(i int) bool { return len(d.hold[i].msgs) > 0 }

// chained reports whether other lines can name l as their parent.
func (l *claudeLine) chained() bool { return l.uuid != "" && l.parentAt.end > 0 && !l.side }

// link resolves parents and owners.
func (d *claudeDoc) link() {
	byUUID := make(map[string]int, len(d.lines))
	for i := range d.lines {
		if u := d.lines[i].uuid; u != "" {
			if _, ok := byUUID[u]; !ok {
				byUUID[u] = i
			}
		}
	}
	d.up = make([]int, len(d.lines))
	d.owner = make([]int, len(d.lines))
	message, chain := -1, -1 // the latest line with a message, and in the chain
	for i := range d.lines {
		l := &d.lines[i]
		d.up[i] = before(byUUID, l.parent, i)
		if l.boundary && d.up[i] < 0 {
			if d.up[i] = before(byUUID, l.logical, i); d.up[i] < 0 {
				d.up[i] = chain
			}
		}
		d.owner[i] = d.ownerOf(i, message, byUUID)
		if d.holds(i) {
			message = i
		}
		if l.chained() {
			chain = i
		}
	}
}

// before is the line of a uuid, or -1 where it is not before line i: chains
// lead backwards, so that following one ends.
func before(byUUID map[string]int, uuid string, i int) int {
	if at, ok := byUUID[uuid]; ok && uuid != "" && at < i {
		return at
	}
	return -1
}

func (d *claudeDoc) ownerOf(i, message int, byUUID map[string]int) int {
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
	case l.boundary || d.up[i] < 0:
		return -1
	}
	return d.owner[d.up[i]]
}
