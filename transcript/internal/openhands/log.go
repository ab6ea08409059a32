package openhands

import (
	"cmp"
	"slices"
	"sort"
	"strconv"

	"github.com/kagewasm/kagewasm/transcript/internal/codec"
	"github.com/kagewasm/kagewasm/transcript/internal/content"
	"github.com/kagewasm/kagewasm/transcript/internal/jsondoc"
)

// log is an event log that can be written again.
//
// The list to write is what the model is to see. Its last summary is a
// condensation that forgets nothing and names its own place. Earlier summaries
// become messages of the person, as OpenHands would not show them otherwise.
// Condensations without a summary go. Other events without messages stay.
type log struct {
	*codec.Log
	lines  []line
	forgot map[string]bool
	ranges [][2]int64
}

// line is one event of the log.
type line struct {
	id           string
	condensation bool
}

func (d *log) forgetRange(from, to string) {
	a, errA := strconv.ParseInt(from, 10, 64)
	b, errB := strconv.ParseInt(to, 10, 64)
	if errA == nil && errB == nil && a <= b {
		d.ranges = append(d.ranges, [2]int64{a, b})
	}
}

// supersede notes the messages whose events are forgotten, and the earlier
// summaries.
func (d *log) supersede() {
	d.sortRanges()
	last := -1
	for _, m := range d.Messages {
		if d.lines[m.Rec].condensation {
			last = m.Rec
		}
	}
	d.Supersede(func(m *codec.Message) bool {
		l := &d.lines[m.Rec]
		return d.forgotten(l.id) || l.condensation && m.Rec != last
	})
}

// sortRanges sorts the ranges by their start. Each then ends where the furthest of
// those up to it ends.
func (d *log) sortRanges() {
	slices.SortFunc(d.ranges, func(a, b [2]int64) int { return cmp.Compare(a[0], b[0]) })
	for i := 1; i < len(d.ranges); i++ {
		d.ranges[i][1] = max(d.ranges[i][1], d.ranges[i-1][1])
	}
}

func (d *log) forgotten(id string) bool {
	n, err := strconv.ParseInt(id, 10, 64)
	if d.forgot[id] || err != nil {
		return d.forgot[id]
	}
	after := sort.Search(len(d.ranges), func(i int) bool { return d.ranges[i][0] > n })
	return after > 0 && d.ranges[after-1][1] >= n
}

// writeArgs writes the arguments of a call: as text inside an answer of the
// model, and otherwise in place of the action's own, with the words beside them.
func (d *log) writeArgs(text string, was codec.Slot) []byte {
	if was.Text {
		return jsondoc.Quote(text)
	}
	written := content.ObjectArgs(text)
	thought := d.Probe(was.At, "the arguments").Raw("thought")
	if !thought.OK() || jsondoc.Parse(written).Has("thought") {
		return written
	}
	words := jsondoc.Obj("thought", jsondoc.Compact(d.Bytes(thought)))
	if len(written) == len("{}") {
		return words
	}
	return slices.Concat(written[:len(written)-1], []byte(","), words[1:])
}

func (d *log) prepare(w *codec.Rewrite) {
	last := d.choose(w)
	out := writer{next: d.freeID()}
	written := 0 // events so far, which is where a summary stands
	offset := func(place int) int {
		if place == last {
			return written
		}
		return -1
	}
	var fresh [][]byte // the events of each new message
	for i := range len(d.lines) + 1 {
		for k := len(fresh); k < len(w.Insert) && w.Insert[k].Rec == i; k++ {
			events := out.message(w.Insert[k].Message, offset(len(d.lines)+k))
			written += len(events)
			for n := range events {
				events[n] = d.Style(events[n])
			}
			fresh = append(fresh, d.Separated(events))
		}
		if i == len(d.lines) || !w.Keep[i] {
			continue
		}
		if d.lines[i].condensation && !w.Whole {
			w.Replace(i, out.event(w.Now[d.MessagesIn(i)[0]], d.lines[i].id, offset(i)))
		}
		written++
	}
	w.WriteNew = func(k int) []byte { return fresh[k] }
}

// choose decides which events without a message stay. It returns the summary that
// is the condensation: see [codec.Rewrite.LastSummary].
func (d *log) choose(w *codec.Rewrite) (last int) {
	own := -1
	for i, l := range d.lines {
		switch {
		case !d.HasMessage(i):
			w.Keep[i] = w.Whole || !l.condensation
		case w.Keep[i] && l.condensation:
			own = i
		}
	}
	return w.LastSummary(own)
}

// freeID returns an id above all others.
func (d *log) freeID() (free int) {
	for i := range d.lines {
		if n, err := strconv.ParseInt(d.lines[i].id, 10, 64); err == nil && n < 1<<53 {
			free = max(free, int(n)+1)
		}
	}
	return free
}
