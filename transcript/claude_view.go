package transcript

// claudeKept is what a compact_boundary preserves of the messages before it:
// the chain from tail up to head, or the lines with these uuids.
type claudeKept struct {
	head, tail string
	uuids      []string
}

func (o *object) claudeKept() *claudeKept {
	kept := &claudeKept{}
	at, ok := o.value("compactMetadata")
	if !ok {
		return kept
	}
	meta := o.child(at, `"compactMetadata"`, "preservedSegment", "preservedMessages")
	if at, ok := meta.value("preservedSegment"); ok {
		s := meta.child(at, `"preservedSegment"`, "headUuid", "tailUuid")
		kept.head, kept.tail = s.str("headUuid"), s.str("tailUuid")
		meta.adopt(s)
	}
	if at, ok := meta.value("preservedMessages"); ok {
		m := meta.child(at, `"preservedMessages"`, "uuids")
		for _, at := range m.list("uuids") {
			if o.src.data[at.start] == '"' {
				kept.uuids = append(kept.uuids, unquote(o.src.bytes(at)))
			}
		}
		meta.adopt(m)
	}
	o.adopt(meta)
	return kept
}

// supersede returns the messages that Claude Code no longer shows the model:
// those before the latest place at which a compaction began the chain anew.
func (d *claudeDoc) supersede() (gone []int) {
	last := -1
	for i := range d.lines {
		if l := &d.lines[i]; !l.side && (l.boundary || l.summary && l.parentAt.end > 0 && l.parent == "") {
			last = i
		}
	}
	if last < 0 {
		return nil
	}
	stays := d.preserved(last)
	for m, i := range d.first {
		if i < last && !stays[m] {
			gone = append(gone, m)
		}
	}
	return gone
}

// preserved are the messages before line i that its compaction keeps.
func (d *claudeDoc) preserved(i int) map[int]bool {
	stays := make(map[int]bool)
	kept := d.lines[i].kept
	if kept == nil {
		return stays
	}
	named := make(map[string]bool, len(kept.uuids))
	for _, uuid := range kept.uuids {
		named[uuid] = true
	}
	next := -1 // on the chain from the tail to the head
	for at := i - 1; at >= 0; at-- {
		l := &d.lines[at]
		if kept.tail != "" && l.uuid == kept.tail {
			next = at
		}
		if at != next && !(l.uuid != "" && named[l.uuid]) {
			continue
		}
		for _, m := range d.hold[at].msgs {
			stays[m] = true
		}
		if at == next {
			if next = d.up[at]; l.uuid == kept.head {
				next = -1
			}
		}
	}
	return stays
}
