package transcript

import "github.com/kagewasm/kagewasm/abi"

// recordDoc is a document whose records hold the messages: one each, or
// several in the blocks of one record, or one message in several records.
// Records that hold none always stay. It serves every format that asks no more
// than this; a codec says what is where, and how a new message is written.
type recordDoc struct {
	layout
	src   *source
	hold  []holding // by record
	first []int     // the first record of each message
	at    []slots   // by message
	fresh func(m *abi.Message) []byte
	arg   func(text string, was slot) []byte
	// result writes the content of a tool result; nil writes a string or a
	// list of parts.
	result func(c abi.Content) []byte
}

// holding is which messages a record holds, or holds a part of.
type holding struct {
	msgs []int
	// blocks is the list in the record that the messages of a record are
	// blocks of, and of the message of each block; for records that may hold
	// several.
	blocks span
	of     []int
}

// add notes the next message, which begins in record rec.
func (d *recordDoc) add(rec int, s slots) {
	d.put(rec, len(d.first))
	d.first = append(d.first, rec)
	d.at = append(d.at, s)
}

// put notes that record rec holds message m, or a part of it.
func (d *recordDoc) put(rec, m int) {
	if d.hold == nil {
		d.hold = make([]holding, len(d.recs))
	}
	d.hold[rec].msgs = append(d.hold[rec].msgs, m)
}

func (d *recordDoc) rewrite(changes []change) []byte {
	w := d.begin(changes)
	for i := range w.keep {
		w.keep[i] = w.keep[i] || len(d.hold[i].msgs) == 0
	}
	return d.file(w.items(func(in *insertion) []byte { return d.style(d.fresh(in.msg)) }))
}
