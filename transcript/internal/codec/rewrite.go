package codec

import (
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/transcript/internal/content"
	"github.com/kagewasm/kagewasm/transcript/internal/jsondoc"
)

// Change is one entry of the list to write: a message that was read, or a new
// one.
type Change struct {
	Message *abi.Message
	Index   int // among those that were read, -1 for a new one
	// Content says that the content of a tool result changed. Args are the calls
	// whose arguments changed. Thinking says that an answer lost its thinking. Words
	// are the texts of a person that were shortened.
	Content  bool
	Args     []int
	Thinking bool
	Words    []Words
}

// Words are a text as it was, and as it is now.
type Words struct{ Was, Is string }

// Rewrite is one writing of a log, for [Log.Prepare].
type Rewrite struct {
	*Log
	// Now are the messages to write, nil for those that are gone.
	Now []*abi.Message
	// Keep says which records stay: those with a message that stays, and those
	// without messages whose owner stays.
	Keep []bool
	// Insert are the new messages, in order. WriteNew writes one.
	Insert   []Insertion
	WriteNew func(k int) []byte
	// Whole says that all messages stay and none is new.
	Whole bool

	edits map[int][]jsondoc.Edit
	bare  map[int]bool // answers without their thinking
}

// Insertion is a new message. It comes before record Rec and the message next.
type Insertion struct {
	*abi.Message
	Rec  int
	next int
}

// Before reports whether the new message comes before one that was read.
func (in *Insertion) Before(m *Message) bool { return in.next <= m.Index }

// Rewrite writes the log with the changes.
func (l *Log) Rewrite(changes []Change) []byte {
	w := l.begin(changes)
	w.WriteNew = func(k int) []byte { return l.Style(l.Entry(w.Insert[k].Message)) }
	if l.Prepare != nil {
		l.Prepare(w)
	}
	if w.Whole && len(w.edits) == 0 && len(w.bare) == 0 {
		return append(make([]byte, 0, len(l.Data)), l.Data...)
	}
	items := w.items()
	if l.Join != nil {
		items = l.Join(items)
	}
	return l.Sequence.File(items, w.prefaceEdits())
}

// begin compares the list to write with what was read.
func (l *Log) begin(changes []Change) *Rewrite {
	w := &Rewrite{
		Log: l, Now: make([]*abi.Message, len(l.Messages)), Keep: make([]bool, len(l.Recs)),
		edits: make(map[int][]jsondoc.Edit), bare: make(map[int]bool),
	}
	rec, next := len(l.Recs), len(l.Messages)
	for i := len(changes) - 1; i >= 0; i-- {
		c := &changes[i]
		if c.Index < 0 {
			w.Insert = append(w.Insert, Insertion{c.Message, rec, next})
			continue
		}
		rec, next = l.Messages[c.Index].Rec, c.Index
		w.Now[c.Index] = c.Message
		w.change(c)
	}
	slices.Reverse(w.Insert)
	w.Whole = len(w.Insert) == 0 && len(changes) == len(l.Messages)
	for i := range w.Keep {
		w.Keep[i] = !l.HasMessage(i) || slices.ContainsFunc(l.MessagesIn(i), w.Stays)
	}
	for i, owner := range l.owners {
		w.Keep[i] = !l.HasMessage(owner) || w.Keep[owner]
	}
	return w
}

// change makes the edits of one change.
func (w *Rewrite) change(c *Change) {
	was := w.Messages[c.Index]
	if out := was.Output; c.Content && !out.Fixed {
		if w.Result != nil {
			w.Edit(out.Rec, out.Put(w.Result(c.Message.Content, out)))
		} else {
			w.Edit(out.Rec, out.Put(content.JSON(c.Message.Content)))
		}
	}
	if c.Thinking && w.DropsThinking {
		w.dropThinking(was, c.Message)
	}
	for _, words := range c.Words {
		rec, places, is := w.Says(was, words)
		for _, at := range places {
			w.EditAt(rec, at, jsondoc.Quote(is))
		}
	}
	for _, i := range c.Args {
		if at := was.args[i]; !at.Fixed {
			w.Edit(at.Rec, at.Put(w.Args(c.Message.ToolCalls[i].Arguments, at)))
		}
	}
}

// dropThinking writes an answer without its thinking.
func (w *Rewrite) dropThinking(was *Message, now *abi.Message) {
	switch r := &w.records[was.Rec]; {
	case !r.blocks.OK():
		w.Edit(was.Rec, was.Output.Put(content.JSON(now.Content)))
	case slices.Contains(r.thinking, false):
		w.bare[was.Index] = true
	default: // it was thinking alone
		w.EditAt(was.Rec, r.blocks, content.JSON(now.Content))
	}
}

// Stays reports whether message m stays.
func (w *Rewrite) Stays(m int) bool { return w.Now[m] != nil }

// Edit adds an edit inside record i.
func (w *Rewrite) Edit(i int, e jsondoc.Edit) { w.edits[i] = append(w.edits[i], e) }

// EditAt replaces a value in record i.
func (w *Rewrite) EditAt(i int, at jsondoc.Span, value []byte) {
	w.Edit(i, jsondoc.Edit{At: at, Text: value})
}

// Replace writes new text in place of record i.
func (w *Rewrite) Replace(i int, text []byte) {
	w.edits[i] = []jsondoc.Edit{{At: w.Recs[i], Text: w.Style(text)}}
}

// LastSummary returns the last of the summaries to write: own, the record of a
// summary that was read (-1 for none), or len(Recs)+k for new message k.
func (w *Rewrite) LastSummary(own int) int {
	for k, in := range w.Insert {
		if isSummary(in.Message) && (own < 0 || own >= len(w.Recs) || in.Rec > own) {
			own = len(w.Recs) + k
		}
	}
	return own
}

// items are the records to write, and the new messages between them.
func (w *Rewrite) items() []jsondoc.Item {
	items := make([]jsondoc.Item, 0, len(w.Recs)+len(w.Insert))
	next := 0
	for i := range len(w.Recs) + 1 {
		from := 0 // the first message of the record that is not written yet
		for ; next < len(w.Insert) && w.Insert[next].Rec == i; next++ {
			to := w.Insert[next].next
			if w.Split && i < len(w.Recs) && slices.ContainsFunc(w.MessagesIn(i), w.stayWithin(from, to)) {
				items = append(items, jsondoc.Item{Rec: i, Edits: w.recordEdits(i, from, to)})
				from = to
			}
			items = append(items, jsondoc.Item{Rec: -1, Text: w.WriteNew(next)})
		}
		if i < len(w.Recs) && w.Keep[i] {
			items = append(items, jsondoc.Item{Rec: i, Edits: w.recordEdits(i, from, len(w.Now))})
		}
	}
	return items
}

// stayWithin tells which messages from one up to another stay.
func (w *Rewrite) stayWithin(from, to int) func(m int) bool {
	return func(m int) bool { return m >= from && m < to && w.Stays(m) }
}

// recordEdits are the edits that write a record's messages from one up to
// another. Blocks of other messages, and of those that are gone, are removed.
func (w *Rewrite) recordEdits(i, from, to int) []jsondoc.Edit {
	edits := w.edits[i]
	if w.records == nil {
		return edits
	}
	r, within := &w.records[i], w.stayWithin(from, to)
	stays := func(k int) bool { return within(r.of[k]) && !(w.bare[r.of[k]] && r.thinking[k]) }
	if allOf(len(r.of), stays) {
		return edits
	}
	out := []jsondoc.Edit{w.KeepElements(r.blocks, edits, stays)}
	for _, e := range edits {
		if e.At.End <= r.blocks.Start || e.At.Start >= r.blocks.End {
			out = append(out, e)
		}
	}
	return out
}

func allOf(n int, is func(k int) bool) bool {
	for k := range n {
		if !is(k) {
			return false
		}
	}
	return true
}

// prefaceEdits take out the blocks of the preface whose messages are gone.
func (w *Rewrite) prefaceEdits() []jsondoc.Edit {
	p, left := &w.preface, 0
	for m := range p.count {
		if w.Stays(m) {
			left++
		}
	}
	switch left {
	case p.count:
		return nil
	case 0:
		return []jsondoc.Edit{{At: p.field}}
	}
	return []jsondoc.Edit{w.KeepElements(p.list, nil, w.Stays)}
}
