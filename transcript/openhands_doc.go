package transcript

import (
	"bytes"
	"slices"
	"strconv"
)

// handsDoc is an event log that can be written again.
//
// The list to write is what the model is to see. Of the summaries in it the
// last is a condensation that forgets nothing and names its own place; earlier
// ones are messages of the person's kind, as OpenHands would not show them
// otherwise. Condensations without a summary go, and with them what they
// forgot, as far as the list left it out. Other events that are no messages
// stay.
type handsDoc struct {
	recordDoc
	lines  []handsLine
	forgot map[string]bool
	ranges [][2]int64
}

// handsLine is one event of the log.
type handsLine struct {
	id           string
	condensation bool
}

func (d *handsDoc) forget(id string) {
	if d.forgot == nil {
		d.forgot = make(map[string]bool)
	}
	d.forgot[id] = true
}

func (d *handsDoc) forgetRange(from, to string) {
	a, errA := strconv.ParseInt(from, 10, 64)
	b, errB := strconv.ParseInt(to, 10, 64)
	if errA == nil && errB == nil && a <= b {
		d.ranges = append(d.ranges, [2]int64{a, b})
	}
}

// supersede returns the messages whose events are forgotten, and the earlier
// summaries.
func (d *handsDoc) supersede() (gone []int) {
	d.merge()
	last := -1
	for m, i := range d.first {
		if d.lines[i].condensation {
			last = m
		}
	}
	for m, i := range d.first {
		if d.forgotten(d.lines[i].id) || d.lines[i].condensation && m != last {
			gone = append(gone, m)
		}
	}
	return gone
}

// merge makes the ranges sorted and apart.
func (d *handsDoc) merge() {
	slices.SortFunc(d.ranges, func(a, b [2]int64) int {
		switch {
		case a[0] < b[0]:
			return -1
		case a[0] > b[0]:
			return 1
		}
		return 0
	})
	var merged [][2]int64
	for _, r := range d.ranges {
		if n := len(merged); n > 0 && r[0] <= merged[n-1][1] {
			merged[n-1][1] = max(merged[n-1][1], r[1])
		} else {
			merged = append(merged, r)
		}
	}
	d.ranges = merged
}

func (d *handsDoc) forgotten(id string) bool {
	if d.forgot[id] {
		return true
	}
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return false
	}
	_, in := slices.BinarySearchFunc(d.ranges, n, func(r [2]int64, n int64) int {
		switch {
		case r[1] < n:
			return -1
		case r[0] > n:
			return 1
		}
		return 0
	})
	return in
}

// argument writes arguments: as text inside an answer of the model, and else
// in place of all that the action does, beside the words that came with it.
func (d *handsDoc) argument(text string, was slot) []byte {
	if was.text {
		return quote(text)
	}
	written := objectArgument(text, was)
	o := d.src.object(was.at, "the arguments")
	if at, ok := o.raw("thought"); ok && !hasKey(written, "thought") {
		thought := new(builder).raw("thought", compacted(d.src.bytes(at))).bytes()
		if len(written) == len("{}") {
			return thought
		}
		return append(append(written[:len(written)-1:len(written)-1], ','), thought[1:]...)
	}
	return written
}

func (d *handsDoc) rewrite(changes []change) []byte {
	w := d.begin(changes)
	last := d.choose(w)
	h := handsWriter{next: d.freeID()}
	written := 0 // events so far, which is where a summary stands
	offset := func(place int) int {
		if place == last {
			return written
		}
		return -1
	}
	var fresh [][]byte // the events of each new message
	for i := range len(d.lines) + 1 {
		for k := len(fresh); k < len(w.insert) && w.insert[k].anchor == i; k++ {
			events := h.message(w.insert[k].msg, offset(len(d.lines)+k))
			fresh = append(fresh, d.join(events))
			written += len(events)
		}
		if i == len(d.lines) || !w.keep[i] {
			continue
		}
		if d.lines[i].condensation && !w.whole {
			w.replace(i, h.event(w.msgs[d.hold[i].msgs[0]], d.lines[i].id, offset(i)))
		}
		written++
	}
	next := 0
	return w.write(w.items(func(*insertion) []byte {
		next++
		return fresh[next-1]
	}))
}

// choose decides which events without a message stay, and returns the summary
// that is the condensation: an event, or after all events a new message.
func (d *handsDoc) choose(w *rewriter) (last int) {
	last = -1
	for i := range d.lines {
		switch {
		case len(d.hold[i].msgs) == 0:
			w.keep[i] = w.whole || !d.lines[i].condensation
		case w.keep[i] && d.lines[i].condensation:
			last = i
		}
	}
	for k, in := range w.insert {
		if isSummary(in.msg) && (last < 0 || last >= len(d.lines) || in.anchor > last) {
			last = len(d.lines) + k
		}
	}
	return last
}

// freeID is above all ids.
func (d *handsDoc) freeID() int64 {
	var free int64
	for i := range d.lines {
		if n, err := strconv.ParseInt(d.lines[i].id, 10, 64); err == nil && n < 1<<53 {
			free = max(free, n+1)
		}
	}
	return free
}

func (d *handsDoc) join(events [][]byte) []byte {
	for i := range events {
		events[i] = d.style(events[i])
	}
	return bytes.Join(events, d.sep)
}

// hasKey reports whether an object has a key.
func hasKey(obj []byte, key string) bool {
	src := newSource("", obj)
	return src.object(span{0, len(obj)}, "").has(key)
}
